import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { accountQuery } from '../../shell/account.ts';
import { tellOtherTabs } from '../../shell/tabs.ts';

/** Logs in by `ask`, and goes to where the reader wanted to be. Its answer has no token: that is in the cookie. */
export function useEnter<I>(ask: (input: I) => Promise<unknown>, next = '/') {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ask,
    onSuccess: async () => {
      // Another account may have been here before.
      queries.removeQueries();
      tellOtherTabs();
      await queries.fetchQuery(accountQuery);
      await navigate({ href: next });
    },
  });
}
