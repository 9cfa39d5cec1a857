import { getRouteApi, Link } from '@tanstack/react-router';
import { api, fieldError } from '../../api.ts';
import { TextField } from '../../components/form/field.tsx';
import { PasswordField } from '../../components/form/passwordField.tsx';
import { loginStrings } from '../../strings/login.ts';
import { AuthLayout } from './authLayout.tsx';
import { useLogIn } from './useLogIn.ts';

const route = getRouteApi('/register');

export function RegisterPage() {
  const { next } = route.useSearch();
  const register = useLogIn(api.auth.register, next);

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
      title={loginStrings.register}
      lead={loginStrings.registerLead}
      onSubmit={submit}
      error={register.error}
      fields={['email', 'password']}
      busy={register.isPending}
      footer={
        <>
          {loginStrings.haveAccount}{' '}
          <Link to="/login" search={{ next }} className="font-medium text-accent underline">
            {loginStrings.logIn}
          </Link>
        </>
      }
    >
      <TextField label={loginStrings.name} name="name" autoComplete="name" isOptional maxLength={100} />
      <TextField
        label={loginStrings.email}
        name="email"
        type="email"
        autoComplete="username"
        required
        error={fieldError(register.error, 'email')}
      />
      <PasswordField
        label={loginStrings.password}
        name="password"
        autoComplete="new-password"
        hint={loginStrings.passwordHint}
        error={fieldError(register.error, 'password')}
      />
    </AuthLayout>
  );
}
