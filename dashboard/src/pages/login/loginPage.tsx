import { getRouteApi, Link } from '@tanstack/react-router';
import { api, errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { PasswordField } from '../../components/passwordField.tsx';
import { loginWords } from '../../strings/login.ts';
import { AuthLayout } from './authLayout.tsx';
import { useLogIn } from './useLogIn.ts';

const route = getRouteApi('/login');

export function LoginPage() {
  const { next } = route.useSearch();
  const enter = useLogIn(api.auth.login, next);

  function submit(form: FormData) {
    enter.mutate({ email: String(form.get('email')), password: String(form.get('password')) });
  }

  return (
    <AuthLayout
      title={loginWords.logIn}
      lead={loginWords.logInLead}
      footer={
        <>
          {loginWords.noAccount}{' '}
          <Link to="/register" search={{ next }} className="font-medium text-accent underline">
            {loginWords.register}
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
        {enter.error !== null && <Notice tone="bad">{errorText(enter.error)}</Notice>}
        <TextField label={loginWords.email} name="email" type="email" autoComplete="username" required autoFocus />
        <PasswordField label={loginWords.password} name="password" autoComplete="current-password" />
        <Button type="submit" look="primary" busy={enter.isPending}>
          {loginWords.logIn}
        </Button>
      </form>
    </AuthLayout>
  );
}
