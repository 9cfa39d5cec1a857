import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { accountQuery } from '../../shell/account.ts';
import { notifyOtherTabs } from '../../shell/tabs.ts';

/** Logs in by `logIn`, and goes to where the reader wanted to be. Its answer has no token: that is in the cookie. */
export function useLogIn<I>(logIn: (input: I) => Promise<unknown>, next = '/') {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: logIn,
    onSuccess: async () => {
      // Another account may have been here before.
      queries.removeQueries();
      notifyOtherTabs();
      await queries.fetchQuery(accountQuery);
      await navigate({ href: next });
    },
  });
}
