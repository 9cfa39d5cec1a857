import { LinkButton } from '../components/linkButton.tsx';
import { Card, Page } from '../components/page/layout.tsx';
import { Empty } from '../components/page/states.tsx';
import { sharedStrings } from '../strings/shared.ts';

/** The page for unknown addresses inside the shell. */
export function NotFoundPage() {
  return (
    <Page title={sharedStrings.pageNotFound}>
      <Card flush>
        <Empty title={sharedStrings.pageNotFoundHint} action={<ToOverview />} />
      </Card>
    </Page>
  );
}

/** The page for addresses that cannot be decoded, which have no shell around them. */
export function NotFound() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}

function ToOverview() {
  return <LinkButton to="/">{sharedStrings.toOverview}</LinkButton>;
}
