import { Link } from '@tanstack/react-router';
import { buttonClass } from '../components/button.tsx';
import { Card, Page } from '../components/layout.tsx';
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
  return (
    <Link to="/" className={buttonClass()}>
      {words.toOverview}
    </Link>
  );
}
