import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { accountQuery } from '../../shell/account.ts';
import { announceLogin } from '../../shell/tabs.ts';

/** Logs in, and opens the page that the reader wanted. The response has no token, which is in the cookie. */
export function useLogIn<I>(logIn: (input: I) => Promise<{ account: { accountId: string } }>, next = '/') {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: logIn,
    onSuccess: async ({ account }) => {
      // The cache may hold data of another account.
      queries.removeQueries();
      announceLogin(account.accountId);
      await queries.fetchQuery(accountQuery);
      await navigate({ href: next });
    },
  });
}
