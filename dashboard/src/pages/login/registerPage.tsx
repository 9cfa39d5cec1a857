import { getRouteApi, Link } from '@tanstack/react-router';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { PasswordField } from '../../components/passwordField.tsx';
import { loginWords } from '../../strings/login.ts';
import { AuthLayout } from './authLayout.tsx';
import { useLogIn } from './useLogIn.ts';

const route = getRouteApi('/register');

export function RegisterPage() {
  const { next } = route.useSearch();
  const enter = useLogIn(api.auth.register, next);
  const wrongPassword = fieldError(enter.error, 'password');
  const wrongEmail = fieldError(enter.error, 'email');

  function submit(form: FormData) {
    const name = String(form.get('name')).trim();
    enter.mutate({
      email: String(form.get('email')),
      password: String(form.get('password')),
      ...(name !== '' && { name }),
    });
  }

  return (
    <AuthLayout
      title={loginWords.register}
      lead={loginWords.registerLead}
      footer={
        <>
          {loginWords.haveAccount}{' '}
          <Link to="/login" search={{ next }} className="font-medium text-accent underline">
            {loginWords.logIn}
          </Link>
        </>
      }
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit(new FormData(event.currentTarget));
        }}
      >
        {enter.error !== null && wrongEmail === undefined && wrongPassword === undefined && (
          <Notice tone="bad">{errorText(enter.error)}</Notice>
        )}
        <TextField label={loginWords.name} name="name" autoComplete="name" isOptional maxLength={100} />
        <TextField
          label={loginWords.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          error={wrongEmail}
        />
        <PasswordField
          label={loginWords.password}
          name="password"
          autoComplete="new-password"
          hint={loginWords.passwordHint}
          error={wrongPassword}
        />
        <Button type="submit" look="primary" busy={enter.isPending}>
          {loginWords.register}
        </Button>
      </form>
    </AuthLayout>
  );
}
