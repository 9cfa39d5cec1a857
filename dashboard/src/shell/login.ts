import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, errorText } from '../api.ts';
import { useToast } from '../components/toast.tsx';
import { clearDrafts } from '../model/drafts.ts';
import { accountQuery } from './account.ts';
import { notifyOtherTabs } from './tabs.ts';

/** Drops the login of this browser, and all that was read with it. */
export function useLogOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return async () => {
    try {
      await api.auth.forgetLogin();
    } catch (error) {
      // The cookie is still there: who thinks they are logged out must not be wrong.
      toast(errorText(error), 'bad');
      return;
    }
    clearDrafts();
    notifyOtherTabs();
    // Who goes back before the login is there is asked again who they are.
    await queries.invalidateQueries({ queryKey: accountQuery.queryKey, refetchType: 'none' });
    await navigate({ to: '/login' });
    queries.clear();
  };
}
