import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLayoutEffect, useRef } from 'react';
import { api, isLoggedOut } from '../api.ts';
import { Dialog } from '../components/dialog/dialog.tsx';
import { TextField } from '../components/form/field.tsx';
import { Form } from '../components/form/form.tsx';
import { PasswordField } from '../components/form/passwordField.tsx';
import { loginStrings } from '../strings/login.ts';
import { accountQuery } from './account.ts';
import { announceLogin } from './tabs.ts';

/**
 * Asks to log in again when the login ends while a page is open. The page stays mounted behind it, with everything that
 * has been written in it.
 */
export function LoginAgain() {
  const { data: account, error } = useQuery(accountQuery);
  const isOpen = account !== undefined && isLoggedOut(error);
  const returnFocus = useReturnOfFocus(isOpen);
  if (account === undefined) return null;
  return (
    <Dialog
      title={loginStrings.logInAgain}
      description={loginStrings.logInAgainLead}
      open={isOpen}
      onOpenChange={() => {}}
      isPersistent
      hidesPage
      returnFocus={returnFocus}
    >
      <LoginForm email={account.email} />
    </Dialog>
  );
}

/**
 * Returns a function that focuses the element that last had the focus before the form opened. No element opens the
 * form, and a button that was pressed loses the focus while its request runs.
 */
function useReturnOfFocus(isOpen: boolean): () => void {
  const last = useRef<HTMLElement>(undefined);
  // In the layout phase, because the form takes the focus before other effects run.
  useLayoutEffect(() => {
    if (isOpen) return;
    const note = ({ target }: FocusEvent) => {
      // A dialog takes the focus itself while its button is disabled.
      if (target instanceof HTMLElement && !(last.current && target.contains(last.current))) last.current = target;
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [isOpen]);
  return () => last.current?.focus();
}

function LoginForm({ email }: { readonly email: string }) {
  const queries = useQueryClient();
  const logIn = useMutation({
    mutationFn: (input: { email: string; password: string }) => api.auth.login(input),
    onSuccess: ({ account }) => {
      const shown = queries.getQueryData(accountQuery.queryKey);
      announceLogin(account.accountId);
      if (account.accountId === shown?.accountId) {
        queries.setQueryData(accountQuery.queryKey, account);
        void queries.invalidateQueries();
      } else {
        // Nothing of the other account may stay on the page.
        location.assign('/');
      }
    },
  });

  function submit(form: HTMLFormElement) {
    const fields = new FormData(form);
    logIn.mutate({ email: String(fields.get('email')), password: String(fields.get('password')) });
  }

  return (
    <Form submit={loginStrings.logIn} error={logIn.error} busy={logIn.isPending} onSubmit={submit}>
      <TextField
        label={loginStrings.email}
        name="email"
        type="email"
        autoComplete="username"
        required
        defaultValue={email}
      />
      <PasswordField label={loginStrings.password} name="password" autoComplete="current-password" autoFocus />
    </Form>
  );
}
