import type { Session } from '@switchboard/sdk/api';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Question } from '../../components/dialog.tsx';
import { Page } from '../../components/layout.tsx';
import { isNotFound, Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { sessionName, sessionQuery } from '../../model/sessions.ts';
import { sessionWords } from '../../strings/sessions.ts';
import { ConnectionCard } from './connectionCard.tsx';
import { HistoryCard } from './historyCard.tsx';
import { PairingCard } from './pairingCard.tsx';
import { SettingsCard } from './settingsCard.tsx';

const route = getRouteApi('/shell/sessions/$sessionId');

/** One session: how it is, what links it, what it was through, and everything that can be set. */
export function SessionPage() {
  const { sessionId } = route.useParams();
  const query = useQuery(sessionQuery(sessionId));

  return (
    <Page
      title={query.data === undefined ? sessionWords.title : sessionName(query.data)}
      actions={
        <>
          <Link to="/sessions" className={buttonClass()}>
            {sessionWords.back}
          </Link>
          {query.data !== undefined && !isNotFound(query.error) && <DeleteSession sessionId={sessionId} />}
        </>
      }
    >
      {/* Keyed: the forms of one session are not those of another. */}
      <Loaded query={query} gone={sessionWords.notFound}>
        {(session) => <Parts key={sessionId} session={session} />}
      </Loaded>
    </Page>
  );
}

function Parts({ session }: { readonly session: Session }) {
  const { sessionId, status, connector } = session;
  return (
    <>
      {status === 'awaiting_pairing' && <PairingCard sessionId={sessionId} connector={connector} />}
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-2">
        <ConnectionCard session={session} />
        <SettingsCard session={session} />
      </div>
      <HistoryCard sessionId={sessionId} />
    </>
  );
}

function DeleteSession({ sessionId }: { readonly sessionId: string }) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();

  async function remove() {
    await api.sessions.delete({ sessionId });
    toast(sessionWords.removed);
    await navigate({ to: '/sessions' });
    queries.removeQueries({ queryKey: ['sessions', sessionId] });
    for (const resource of ['sessions', 'chats', 'messages', 'groups'])
      void queries.invalidateQueries({ queryKey: [resource] });
  }

  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {sessionWords.remove}
      </Button>
      <Question
        title={sessionWords.removeTitle}
        confirm={sessionWords.remove}
        open={isAsking}
        onOpenChange={setAsking}
        onConfirm={remove}
      >
        {sessionWords.removeHint}
      </Question>
    </>
  );
}
