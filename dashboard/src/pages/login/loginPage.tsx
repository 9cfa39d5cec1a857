import { getRouteApi, Link } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { TextField } from '../../components/form/field.tsx';
import { PasswordField } from '../../components/form/passwordField.tsx';
import { loginStrings } from '../../strings/login.ts';
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
      title={loginStrings.logIn}
      lead={loginStrings.logInLead}
      onSubmit={submit}
      error={logIn.error}
      busy={logIn.isPending}
      footer={
        <>
          {loginStrings.noAccount}{' '}
          <Link to="/register" search={{ next }} className="font-medium text-accent underline">
            {loginStrings.register}
          </Link>
        </>
      }
    >
      <TextField label={loginStrings.email} name="email" type="email" autoComplete="username" required autoFocus />
      <PasswordField label={loginStrings.password} name="password" autoComplete="current-password" />
    </AuthLayout>
  );
}
