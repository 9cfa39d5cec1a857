import { useMutation } from '@tanstack/react-query';
import { api, fieldError } from '../../api.ts';
import { Form } from '../../components/form.tsx';
import { PasswordField } from '../../components/passwordField.tsx';
import { useToast } from '../../components/toast.tsx';
import { accountWords } from '../../strings/account.ts';
import { loginWords } from '../../strings/login.ts';

/** Changes the password. This browser stays logged in, because the response renews its cookie. */
export function PasswordForm() {
  const toast = useToast();
  const change = useMutation({
    mutationFn: (input: { currentPassword: string; newPassword: string }) => api.auth.changePassword(input),
  });
  const { error } = change;
  const currentError = fieldError(error, 'currentPassword');
  const newError = fieldError(error, 'newPassword');
  const isAtField = currentError !== undefined || newError !== undefined;

  function submit(form: HTMLFormElement) {
    const fields = new FormData(form);
    const input = { currentPassword: String(fields.get('current')), newPassword: String(fields.get('new')) };
    change.mutate(input, {
      onSuccess: () => {
        form.reset();
        toast(accountWords.changed);
      },
    });
  }

  return (
    <Form onSubmit={submit} error={isAtField ? null : error} busy={change.isPending} submit={accountWords.change}>
      <PasswordField label={accountWords.current} name="current" autoComplete="current-password" error={currentError} />
      <PasswordField
        label={accountWords.next}
        name="new"
        autoComplete="new-password"
        hint={loginWords.passwordHint}
        error={newError}
      />
    </Form>
  );
}
