import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, errorText } from '../api.ts';
import { useToast } from '../components/toast.tsx';
import { accountQuery } from './account.ts';
import { announceLogin } from './tabs.ts';

/** Ends the login of this browser, and clears everything that was read with it. */
export function useLogOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return async () => {
    try {
      await api.auth.forgetLogin();
    } catch (error) {
      // The cookie is still there, so the reader must not believe that they are logged out.
      toast(errorText(error), 'bad');
      return;
    }
    announceLogin(null);
    // Going back before the login page is shown has to check the login again.
    await queries.invalidateQueries({ queryKey: accountQuery.queryKey, refetchType: 'none' });
    await navigate({ to: '/login' });
    queries.clear();
  };
}
