import type { Session } from '@switchboard/sdk/api';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Page } from '../../components/page/layout.tsx';
import { isNotFound, Loaded } from '../../components/page/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { sessionName, sessionQuery } from '../../model/sessions.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { ConnectionCard } from './connectionCard.tsx';
import { HealthCard } from './healthCard.tsx';
import { HistoryCard } from './historyCard.tsx';
import { NumberCard } from './numberCard.tsx';
import { PairingCard } from './pairingCard.tsx';
import { SettingsCard } from './settingsCard.tsx';

const route = getRouteApi('/shell/sessions/$sessionId');

/** One session: its connection, pairing, settings and history. */
export function SessionPage() {
  const { sessionId } = route.useParams();
  const query = useQuery(sessionQuery(sessionId));

  return (
    <Page
      title={query.data === undefined ? sessionStrings.title : sessionName(query.data)}
      actions={
        <>
          <LinkButton to="/sessions">{sessionStrings.back}</LinkButton>
          {query.data !== undefined && !isNotFound(query.error) && <DeleteSession sessionId={sessionId} />}
        </>
      }
    >
      {/* Keyed, so that the forms of one session do not keep what was entered for another. */}
      <Loaded query={query} notFound={sessionStrings.notFound}>
        {(session) => <Parts key={sessionId} session={session} />}
      </Loaded>
    </Page>
  );
}

function Parts({ session }: { readonly session: Session }) {
  const { sessionId, status, connector, network, health } = session;
  return (
    <>
      {status === 'awaiting_pairing' && <PairingCard sessionId={sessionId} connector={connector} />}
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-2">
        <div className="grid grid-cols-1 gap-6">
          <ConnectionCard session={session} />
          {health !== undefined && health.linkedAt !== null && <HealthCard health={health} />}
        </div>
        <SettingsCard session={session} />
      </div>
      {network !== null && <NumberCard network={network} />}
      <HistoryCard sessionId={sessionId} />
    </>
  );
}

function DeleteSession({ sessionId }: { readonly sessionId: string }) {
  const queries = useQueryClient();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const toast = useToast();

  async function remove() {
    await api.sessions.delete({ sessionId });
    toast(sessionStrings.removed);
    await navigate({ to: '/sessions' });
    queries.removeQueries({ queryKey: ['sessions', sessionId] });
    void refresh('sessions', 'chats', 'messages', 'groups');
  }

  return (
    <ConfirmButton title={sessionStrings.removeTitle} confirm={sessionStrings.remove} onConfirm={remove}>
      {sessionStrings.removeHint}
    </ConfirmButton>
  );
}
