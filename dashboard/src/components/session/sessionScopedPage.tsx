import type { Session } from '@switchboard/sdk/api';
import type { ReactNode } from 'react';
import { useChosenSession } from '../../model/sessions.ts';
import { Card, Page } from '../page/layout.tsx';
import { Loaded } from '../page/states.tsx';
import { NoSession, SessionSelect } from './sessionSelect.tsx';

interface SessionScopedPageProps {
  readonly strings: { readonly title: string; readonly lead: string };
  readonly fit?: 'content' | 'screen' | 'screenAlone';
  /** Id of the session in the address; without it the page picks one. */
  readonly wanted: string | undefined;
  readonly isOffered?: (session: Session) => boolean;
  readonly onChoose: (sessionId: string) => void;
  readonly actions?: (session: Session) => ReactNode;
  /** Shown while the account has no session that the page could show. */
  readonly empty?: ReactNode;
  readonly children: (session: Session) => ReactNode;
}

/** A page about one session at a time, with the select that switches between sessions. */
export function SessionScopedPage({
  strings: { title, lead },
  fit,
  wanted,
  isOffered,
  onChoose,
  actions,
  empty = <NoSession />,
  children,
}: SessionScopedPageProps) {
  const { sessions, query } = useChosenSession(wanted, isOffered);
  const chosen = query.data?.chosen;
  return (
    <Page
      title={title}
      lead={lead}
      fit={fit}
      actions={
        <>
          {query.data !== undefined && sessions.length > 0 && (
            <SessionSelect sessions={sessions} chosen={chosen} onChoose={onChoose} />
          )}
          {chosen !== undefined && actions?.(chosen)}
        </>
      }
    >
      <Loaded query={query}>
        {() =>
          chosen === undefined ? (
            <Card flush>{wanted === undefined ? empty : <NoSession isUnknown />}</Card>
          ) : (
            children(chosen)
          )
        }
      </Loaded>
    </Page>
  );
}
