import { Card, Page } from '../components/layout.tsx';
import { LinkButton } from '../components/linkButton.tsx';
import { Empty } from '../components/states.tsx';
import { words } from '../strings/shared.ts';

/** An address inside the shell that leads nowhere. */
export function NotFoundPage() {
  return (
    <Page title={words.pageNotFound}>
      <Card flush>
        <Empty title={words.pageNotFoundHint} action={<ToOverview />} />
      </Card>
    </Page>
  );
}

/** The same for an address that cannot be read, which has no shell around it. */
export function NotFound() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}

function ToOverview() {
  return <LinkButton to="/">{words.toOverview}</LinkButton>;
}
