import { useMutation } from '@tanstack/react-query';
import { api, fieldError } from '../../api.ts';
import { Form } from '../../components/form/form.tsx';
import { PasswordField } from '../../components/form/passwordField.tsx';
import { useToast } from '../../components/toast.tsx';
import { loginStrings } from '../../strings/login.ts';
import { accountStrings } from './strings.ts';

/** Changes the password. This browser stays logged in, because the response renews its cookie. */
export function PasswordForm() {
  const toast = useToast();
  const change = useMutation({
    mutationFn: (input: { currentPassword: string; newPassword: string }) => api.auth.changePassword(input),
  });
  const { error } = change;

  function submit(form: HTMLFormElement) {
    const fields = new FormData(form);
    const input = { currentPassword: String(fields.get('current')), newPassword: String(fields.get('new')) };
    change.mutate(input, {
      onSuccess: () => {
        form.reset();
        toast(accountStrings.changed);
      },
    });
  }

  return (
    <Form
      onSubmit={submit}
      error={error}
      fields={['currentPassword', 'newPassword']}
      busy={change.isPending}
      submit={accountStrings.change}
    >
      <PasswordField
        label={accountStrings.current}
        name="current"
        autoComplete="current-password"
        error={fieldError(error, 'currentPassword')}
      />
      <PasswordField
        label={accountStrings.next}
        name="new"
        autoComplete="new-password"
        hint={loginStrings.passwordHint}
        error={fieldError(error, 'newPassword')}
      />
    </Form>
  );
}
