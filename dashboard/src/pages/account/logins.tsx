import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { accountStrings } from './strings.ts';

/** Ends every login of the account. */
export function Logins() {
  const queries = useQueryClient();
  const navigate = useNavigate();

  async function logOutEverywhere() {
    await api.auth.logout();
    await navigate({ to: '/login' });
    queries.clear();
  }

  return (
    <ConfirmButton
      look="secondary"
      title={accountStrings.logOutTitle}
      confirm={accountStrings.logOutEverywhere}
      onConfirm={logOutEverywhere}
    >
      {accountStrings.logOutHint}
    </ConfirmButton>
  );
}
