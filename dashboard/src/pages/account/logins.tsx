import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Question } from '../../components/dialog.tsx';
import { accountWords } from '../../strings/account.ts';

/** Ends every login of the account. */
export function Logins() {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();

  async function logOutEverywhere() {
    await api.auth.logout();
    await navigate({ to: '/login' });
    queries.clear();
  }

  return (
    <>
      <Button onClick={() => setAsking(true)}>{accountWords.logOutEverywhere}</Button>
      <Question
        title={accountWords.question}
        confirm={accountWords.logOutEverywhere}
        open={isAsking}
        onOpenChange={setAsking}
        onConfirm={logOutEverywhere}
      >
        {accountWords.answer}
      </Question>
    </>
  );
}
