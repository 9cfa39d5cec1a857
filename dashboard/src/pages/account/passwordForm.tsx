import { useMutation } from '@tanstack/react-query';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { PasswordField } from '../../components/passwordField.tsx';
import { useToast } from '../../components/toast.tsx';
import { accountWords } from '../../strings/account.ts';
import { loginWords } from '../../strings/login.ts';

/** Sets another password. This browser stays logged in: the answer brings its cookie anew. */
export function PasswordForm() {
  const toast = useToast();
  const change = useMutation({
    mutationFn: (input: { currentPassword: string; newPassword: string }) => api.auth.changePassword(input),
  });
  const { error } = change;
  const currentError = fieldError(error, 'currentPassword');
  const nextError = fieldError(error, 'newPassword');

  async function submit(form: HTMLFormElement) {
    const entered = new FormData(form);
    await change.mutateAsync({
      currentPassword: String(entered.get('current')),
      newPassword: String(entered.get('next')),
    });
    form.reset();
    toast(accountWords.changed, 'good');
  }

  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget).catch(() => {}); // shown by the form
      }}
    >
      {error !== null && currentError === undefined && nextError === undefined && (
        <Notice tone="bad">{errorText(error)}</Notice>
      )}
      <PasswordField label={accountWords.current} name="current" autoComplete="current-password" error={currentError} />
      <PasswordField
        label={accountWords.next}
        name="next"
        autoComplete="new-password"
        hint={loginWords.passwordHint}
        error={nextError}
      />
      <div>
        <Button type="submit" look="primary" busy={change.isPending}>
          {accountWords.change}
        </Button>
      </div>
    </form>
  );
}
