import { Card, Facts, Page } from '../../components/page/layout.tsx';
import { Time } from '../../components/text/time.tsx';
import { useAccount } from '../../shell/account.ts';
import { Logins } from './logins.tsx';
import { PasswordForm } from './passwordForm.tsx';
import { accountStrings } from './strings.ts';

export function AccountPage() {
  const { name, email, createdAt } = useAccount();
  return (
    <Page title={accountStrings.title}>
      <div className="grid max-w-2xl gap-5">
        <Card title={accountStrings.profile}>
          <Facts
            facts={[
              [accountStrings.name, name ?? accountStrings.noName],
              [accountStrings.email, email],
              [accountStrings.created, <Time key="since" at={createdAt} />],
            ]}
          />
        </Card>
        <Card title={accountStrings.password} hint={accountStrings.passwordHint}>
          <PasswordForm />
        </Card>
        <Card title={accountStrings.logins} hint={accountStrings.loginsHint}>
          <Logins />
        </Card>
      </div>
    </Page>
  );
}
