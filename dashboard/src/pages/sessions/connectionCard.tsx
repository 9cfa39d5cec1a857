import type { Session } from '@switchboard/sdk/api';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copyButton.tsx';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { Tag } from '../../components/lamp.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card, Facts } from '../../components/page/layout.tsx';
import { RiskNotice } from '../../components/session/sessionRisk.tsx';
import { SessionStatus } from '../../components/session/sessionStatus.tsx';
import { Time } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useAction, useRefresh } from '../../model/actions.ts';
import { SANDBOX } from '../../model/sessions.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { networkName } from './connectors.ts';

/** The status of the session, its reason, and the buttons to change it. */
export function ConnectionCard({ session }: { readonly session: Session }) {
  const { sessionId, status, error, connector } = session;
  return (
    <Card title={sessionStrings.connection}>
      <div className="grid gap-4">
        <div role="status" className="grid gap-1">
          <SessionStatus status={status} />
          <p className="text-sm text-ink-soft">{sessionStrings.explain[status]}</p>
        </div>
        {error !== null && <Notice tone={status === 'connecting' ? 'warn' : 'bad'}>{error}</Notice>}
        <RiskNotice health={session.health} />
        <ConnectionButtons sessionId={sessionId} status={status} />
        <Facts facts={factsOf(session)} />
        <div className="flex flex-wrap gap-2.5">
          <LinkButton to="/chats" search={{ session: sessionId }} size="small">
            {sessionStrings.openChats}
          </LinkButton>
          {connector === SANDBOX && (
            <LinkButton to="/simulator" search={{ session: sessionId }} size="small">
              {sessionStrings.openSimulator}
            </LinkButton>
          )}
        </div>
      </div>
    </Card>
  );
}

function ConnectionButtons({ sessionId, status }: Pick<Session, 'sessionId' | 'status'>) {
  const { run, isPending } = useAction('sessions');
  const refresh = useRefresh();
  const toast = useToast();

  async function logOut() {
    await api.sessions.logout({ sessionId });
    toast(sessionStrings.loggedOut);
    await refresh('sessions');
  }

  const isUp = status === 'connected' || status === 'connecting' || status === 'awaiting_pairing';
  const isLinked = status === 'connected' || status === 'connecting' || status === 'disconnected';
  return (
    <div className="flex flex-wrap gap-2.5">
      {isUp ? (
        <>
          <Button
            busy={isPending}
            onClick={() => run(() => api.sessions.disconnect({ sessionId }), sessionStrings.disconnected)}
          >
            {sessionStrings.disconnect}
          </Button>
          <Button
            busy={isPending}
            onClick={() => run(() => api.sessions.restart({ sessionId }), sessionStrings.restarted)}
          >
            {sessionStrings.restart}
          </Button>
        </>
      ) : (
        <Button look="primary" busy={isPending} onClick={() => run(() => api.sessions.connect({ sessionId }))}>
          {sessionStrings.connect}
        </Button>
      )}
      {isLinked && (
        <ConfirmButton title={sessionStrings.logOutTitle} confirm={sessionStrings.logOut} onConfirm={logOut}>
          {sessionStrings.logOutHint}
        </ConfirmButton>
      )}
    </div>
  );
}

function factsOf(session: Session): readonly (readonly [string, ReactNode])[] {
  const { sessionId, connector, phoneNumber, connectedAt, lastEventAt, createdAt, callbackUrl, metadata, history } =
    session;
  const labels = Object.entries(metadata);
  return [
    [sessionStrings.network, networkName(connector)],
    [sessionStrings.phoneNumber, phoneNumber === null ? sessionStrings.noNumber : `+${phoneNumber}`],
    ...(connectedAt === null ? [] : [[sessionStrings.connectedAt, <Time key="since" at={connectedAt} />] as const]),
    [sessionStrings.lastEvent, <Time key="last" at={lastEventAt} as="relative" />],
    ...(history === undefined || history.state === 'none'
      ? []
      : [[sessionStrings.phoneHistory, sessionStrings.historyProgress(history)] as const]),
    [sessionStrings.createdAt, <Time key="created" at={createdAt} />],
    [sessionStrings.sessionId, <Copyable key="id" text={sessionId} />],
    ...(callbackUrl === null
      ? []
      : [[sessionStrings.callbackUrl, <Copyable key="callback" text={callbackUrl} />] as const]),
    ...(labels.length === 0
      ? []
      : [
          [
            sessionStrings.labels,
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
    <span className="flex items-center gap-1">
      <code className="min-w-0 wrap-anywhere">{text}</code>
      {/* Higher than a line of text: it overlaps the space between the rows, which the text does not. */}
      <span className="-my-2">
        <CopyButton text={text} />
      </span>
    </span>
  );
}
