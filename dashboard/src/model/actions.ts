import { useMutation, useQueryClient } from '@tanstack/react-query';
import { errorText } from '../api.ts';
import { useToast } from '../components/toast.tsx';

/** Refetches resources, which are named by the first part of their query keys. */
export function useRefresh(): (...resources: readonly string[]) => Promise<unknown> {
  const queries = useQueryClient();
  return (...resources) =>
    Promise.all(resources.map((resource) => queries.invalidateQueries({ queryKey: [resource] })));
}

/**
 * Runs API calls for buttons and menu items: reports the outcome in a toast, and refetches the resources.
 *
 * ```ts
 * const { run } = useAction('chats');
 * run(() => api.chats.markRead({ sessionId, chatId }));
 * ```
 */
export function useAction(...resources: readonly string[]) {
  const refresh = useRefresh();
  const toast = useToast();
  const { mutate, isPending } = useMutation({
    mutationFn: ({ call }: { readonly call: () => Promise<unknown>; readonly done: string | undefined }) => call(),
    onSuccess: (_, { done }) => {
      if (done !== undefined) toast(done);
    },
    onError: (error) => toast(errorText(error), 'bad'),
    onSettled: () => refresh(...resources),
  });
  /** @param done toast after a success */
  const run = (call: () => Promise<unknown>, done?: string) => mutate({ call, done });
  return { run, isPending };
}
