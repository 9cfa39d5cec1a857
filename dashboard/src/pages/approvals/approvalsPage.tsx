import type { Message } from '@switchboard/sdk/api';
import { ShieldCheck } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card, Page } from '../../components/page/layout.tsx';
import { MoreFailed } from '../../components/page/more.tsx';
import { Empty, Loaded } from '../../components/page/states.tsx';
import { useKeyNames } from '../../model/apiKeys.ts';
import { usePendingApprovals } from '../../model/approvals.ts';
import { sessionName, useSessions } from '../../model/sessions.ts';
import { approvalStrings } from '../../strings/approvals.ts';
import { ApprovalCard } from './approvalCard.tsx';

/** The messages that wait for a person, oldest first. */
export function ApprovalsPage() {
  const pending = usePendingApprovals();
  return (
    <Page title={approvalStrings.title} lead={approvalStrings.lead}>
      <Loaded query={pending}>{() => <Approvals pending={pending} />}</Loaded>
    </Page>
  );
}

function Approvals({ pending: { rows, more } }: { readonly pending: ReturnType<typeof usePendingApprovals> }) {
  const shown = useShown(rows);
  const [decided, setDecided] = useState<ReadonlyMap<string, Message>>(new Map());
  const list = useRef<HTMLUListElement>(null);
  const sessionNameOf = useSessionNames();
  const keyNameOf = useKeyNames();
  const waiting = new Set(rows.map(({ messageId }) => messageId));

  function finish(message: Message) {
    setDecided((before) => new Map(before).set(message.messageId, message));
    // The buttons of the message are gone: the keyboard continues at its heading.
    list.current?.querySelector<HTMLElement>(`[data-message="${message.messageId}"] h2`)?.focus();
  }

  if (shown.length === 0) {
    return (
      <Card flush>
        <Empty
          icon={<ShieldCheck />}
          title={approvalStrings.empty}
          action={<LinkButton to="/keys">{approvalStrings.toKeys}</LinkButton>}
        >
          {approvalStrings.emptyHint}
        </Empty>
      </Card>
    );
  }
  return (
    <>
      <MoreFailed more={more} />
      {more.load !== undefined && more.error === null && (
        <Button className="justify-self-center" busy={more.isLoading} onClick={() => more.load?.()}>
          {approvalStrings.older}
        </Button>
      )}
      <ul ref={list} aria-label={approvalStrings.list} className="grid grid-cols-1 gap-4">
        {shown.map((message) => (
          <li key={message.messageId} data-message={message.messageId}>
            <ApprovalCard
              message={message}
              decided={decided.get(message.messageId)}
              isWaiting={waiting.has(message.messageId)}
              session={sessionNameOf(message.sessionId)}
              apiKey={keyNameOf(message.approval?.keyId ?? '')}
              onDecided={finish}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * Keeps messages in their place after they were decided, until the reader leaves the page: the next message must not
 * move below a finger that is about to press.
 */
function useShown(rows: readonly Message[]): readonly Message[] {
  const [shown, setShown] = useState<readonly Message[]>([]);
  const known = new Set(shown.map(({ messageId }) => messageId));
  const added = rows.filter(({ messageId }) => !known.has(messageId));
  if (added.length === 0) return shown;
  const next = [...shown, ...added].toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
  setShown(next);
  return next;
}

function useSessionNames(): (sessionId: string) => string {
  const { data = [] } = useSessions();
  const names = new Map(data.map((session) => [session.sessionId, sessionName(session)]));
  return (sessionId) => names.get(sessionId) ?? sessionId;
}
