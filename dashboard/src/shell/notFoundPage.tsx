import { Link } from '@tanstack/react-router';
import { buttonClass } from '../components/button.tsx';
import { Empty } from '../components/states.tsx';
import { words } from '../strings/shared.ts';

export function NotFoundPage() {
  return (
    <main className="p-6">
      <Empty
        title={words.pageNotFound}
        action={
          <Link to="/" className={buttonClass()}>
            {words.toOverview}
          </Link>
        }
      >
        {words.pageNotFoundHint}
      </Empty>
    </main>
  );
}
