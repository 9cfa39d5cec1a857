import { getRouteApi, Link } from '@tanstack/react-router';
import { api, fieldError } from '../../api.ts';
import { TextField } from '../../components/field.tsx';
import { PasswordField } from '../../components/passwordField.tsx';
import { loginWords } from '../../strings/login.ts';
import { AuthLayout } from './authLayout.tsx';
import { useLogIn } from './useLogIn.ts';

const route = getRouteApi('/register');

export function RegisterPage() {
  const { next } = route.useSearch();
  const register = useLogIn(api.auth.register, next);
  const passwordError = fieldError(register.error, 'password');
  const emailError = fieldError(register.error, 'email');
  const isAtField = emailError !== undefined || passwordError !== undefined;

  function submit(fields: FormData) {
    const name = String(fields.get('name')).trim();
    register.mutate({
      email: String(fields.get('email')),
      password: String(fields.get('password')),
      ...(name !== '' && { name }),
    });
  }

  return (
    <AuthLayout
      title={loginWords.register}
      lead={loginWords.registerLead}
      onSubmit={submit}
      error={isAtField ? null : register.error}
      busy={register.isPending}
      footer={
        <>
          {loginWords.haveAccount}{' '}
          <Link to="/login" search={{ next }} className="font-medium text-accent underline">
            {loginWords.logIn}
          </Link>
        </>
      }
    >
      <TextField label={loginWords.name} name="name" autoComplete="name" isOptional maxLength={100} />
      <TextField
        label={loginWords.email}
        name="email"
        type="email"
        autoComplete="username"
        required
        error={emailError}
      />
      <PasswordField
        label={loginWords.password}
        name="password"
        autoComplete="new-password"
        hint={loginWords.passwordHint}
        error={passwordError}
      />
    </AuthLayout>
  );
}
