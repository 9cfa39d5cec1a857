import type { Session } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, errorText } from '../../api.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { CopyButton } from '../../components/copyButton.tsx';
import { Question } from '../../components/dialog.tsx';
import { Tag } from '../../components/lamp.tsx';
import { Card, Facts } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { SessionStatus } from '../../components/sessionStatus.tsx';
import { Time } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { sessionWords } from '../../strings/sessions.ts';
import { words } from '../../strings/shared.ts';
import { networkName } from './connectors.ts';

/** How the session is, why, and what can be done about it. */
export function ConnectionCard({ session }: { readonly session: Session }) {
  const { sessionId, status, error, connector } = session;
  return (
    <Card title={sessionWords.connection}>
      <div className="grid gap-4">
        <div role="status" className="grid gap-1">
          <SessionStatus status={status} />
          <p className="text-sm text-ink-soft">{sessionWords.explain[status]}</p>
        </div>
        {error !== null && <Notice tone={status === 'connecting' ? 'warn' : 'bad'}>{error}</Notice>}
        <ConnectionButtons sessionId={sessionId} status={status} />
        <Facts facts={factsOf(session)} />
        <div className="flex flex-wrap gap-2.5">
          <Link to="/chats" search={{ session: sessionId }} className={buttonClass('secondary', 'small')}>
            {sessionWords.openChats}
          </Link>
          {connector === 'sandbox' && (
            <Link to="/simulator" search={{ session: sessionId }} className={buttonClass('secondary', 'small')}>
              {sessionWords.openSimulator}
            </Link>
          )}
        </div>
      </div>
    </Card>
  );
}

function ConnectionButtons({ sessionId, status }: Pick<Session, 'sessionId' | 'status'>) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const toast = useToast();
  const refresh = () => queries.invalidateQueries({ queryKey: ['sessions'] });
  const connect = useMutation({
    mutationFn: () => api.sessions.connect({ sessionId }),
    onError: (error) => toast(errorText(error), 'bad'),
    onSettled: refresh,
  });
  const disconnect = useMutation({
    mutationFn: () => api.sessions.disconnect({ sessionId }),
    onSuccess: () => toast(sessionWords.disconnected),
    onError: (error) => toast(errorText(error), 'bad'),
    onSettled: refresh,
  });

  async function logOut() {
    await api.sessions.logout({ sessionId });
    toast(sessionWords.loggedOut);
    await refresh();
  }

  const isUp = status === 'connected' || status === 'connecting' || status === 'awaiting_pairing';
  const isLinked = status === 'connected' || status === 'connecting' || status === 'disconnected';
  return (
    <div className="flex flex-wrap gap-2.5">
      {isUp ? (
        <Button busy={disconnect.isPending} onClick={() => disconnect.mutate()}>
          {sessionWords.disconnect}
        </Button>
      ) : (
        <Button look="primary" busy={connect.isPending} onClick={() => connect.mutate()}>
          {sessionWords.connect}
        </Button>
      )}
      {isLinked && (
        <Button look="danger" onClick={() => setAsking(true)}>
          {sessionWords.logOut}
        </Button>
      )}
      <Question
        title={sessionWords.logOutTitle}
        confirm={sessionWords.logOut}
        open={isAsking}
        onOpenChange={setAsking}
        onConfirm={logOut}
      >
        {sessionWords.logOutHint}
      </Question>
    </div>
  );
}

function factsOf(session: Session): readonly (readonly [string, ReactNode])[] {
  const { sessionId, connector, phoneNumber, connectedAt, lastEventAt, createdAt, callbackUrl, metadata } = session;
  const labels = Object.entries(metadata);
  return [
    [sessionWords.network, networkName(connector)],
    [sessionWords.phoneNumber, phoneNumber === null ? sessionWords.noNumber : `+${phoneNumber}`],
    ...(connectedAt === null ? [] : [[sessionWords.connectedAt, <Time key="since" at={connectedAt} />] as const]),
    [sessionWords.lastEvent, lastEventAt === null ? words.never : <Time key="last" at={lastEventAt} as="relative" />],
    [sessionWords.createdAt, <Time key="created" at={createdAt} />],
    [sessionWords.sessionId, <Copyable key="id" text={sessionId} />],
    ...(callbackUrl === null
      ? []
      : [[sessionWords.callbackUrl, <Copyable key="callback" text={callbackUrl} />] as const]),
    ...(labels.length === 0
      ? []
      : [
          [
            sessionWords.labels,
            <span key="labels" className="flex flex-wrap gap-1.5">
              {labels.map(([name, value]) => (
                <Tag key={name}>{`${name}: ${value}`}</Tag>
              ))}
            </span>,
          ] as const,
        ]),
  ];
}

function Copyable({ text }: { readonly text: string }) {
  return (
    <span className="-my-2 flex items-center gap-1">
      <code className="min-w-0 wrap-anywhere">{text}</code>
      <CopyButton text={text} />
    </span>
  );
}
