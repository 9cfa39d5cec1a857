import { Card, Facts, Page } from '../../components/layout.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount } from '../../shell/account.ts';
import { accountWords } from '../../strings/account.ts';
import { Logins } from './logins.tsx';
import { PasswordForm } from './passwordForm.tsx';

export function AccountPage() {
  const { name, email, createdAt } = useAccount();
  return (
    <Page title={accountWords.title}>
      <div className="grid max-w-2xl gap-5">
        <Card title={accountWords.profile}>
          <Facts
            facts={[
              [accountWords.name, name ?? accountWords.noName],
              [accountWords.email, email],
              [accountWords.created, <Time key="since" at={createdAt} />],
            ]}
          />
        </Card>
        <Card title={accountWords.password} hint={accountWords.passwordHint}>
          <PasswordForm />
        </Card>
        <Card title={accountWords.logins} hint={accountWords.loginsHint}>
          <Logins />
        </Card>
      </div>
    </Page>
  );
}
