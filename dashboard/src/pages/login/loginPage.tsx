import { getRouteApi, Link } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { TextField } from '../../components/field.tsx';
import { PasswordField } from '../../components/passwordField.tsx';
import { loginWords } from '../../strings/login.ts';
import { AuthLayout } from './authLayout.tsx';
import { useLogIn } from './useLogIn.ts';

const route = getRouteApi('/login');

export function LoginPage() {
  const { next } = route.useSearch();
  const logIn = useLogIn(api.auth.login, next);

  function submit(fields: FormData) {
    logIn.mutate({ email: String(fields.get('email')), password: String(fields.get('password')) });
  }

  return (
    <AuthLayout
      title={loginWords.logIn}
      lead={loginWords.logInLead}
      onSubmit={submit}
      error={logIn.error}
      busy={logIn.isPending}
      footer={
        <>
          {loginWords.noAccount}{' '}
          <Link to="/register" search={{ next }} className="font-medium text-accent underline">
            {loginWords.register}
          </Link>
        </>
      }
    >
      <TextField label={loginWords.email} name="email" type="email" autoComplete="username" required autoFocus />
      <PasswordField label={loginWords.password} name="password" autoComplete="current-password" />
    </AuthLayout>
  );
}
