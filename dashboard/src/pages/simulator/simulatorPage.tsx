import type { Session } from '@switchboard/sdk/api';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { EllipsisVertical, Plus, Smartphone, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ChatList } from '../../components/chat/chatList.tsx';
import { PhoneNumberDialog } from '../../components/chat/phoneNumberDialog.tsx';
import { TwoPanes } from '../../components/chat/twoPanes.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { Notice } from '../../components/notice.tsx';
import { Empty, Loaded } from '../../components/page/states.tsx';
import { SessionScopedPage } from '../../components/session/sessionScopedPage.tsx';
import { useAction } from '../../model/actions.ts';
import { useChats } from '../../model/chats.ts';
import { useNames } from '../../model/names.ts';
import { SANDBOX } from '../../model/sessions.ts';
import { chatStrings } from '../../strings/chats.ts';
import { GroupForm } from './groupForm.tsx';
import { PhonePane } from './phonePane.tsx';
import { useSimulateAction } from './simulate.ts';
import { simulatorStrings } from './strings.ts';

const route = getRouteApi('/shell/simulator');

/** The other side of the sandbox network. */
export function SimulatorPage() {
  const { session: wanted, chat } = route.useSearch();
  const navigate = useNavigate();
  return (
    <SessionScopedPage
      strings={simulatorStrings}
      fit={chat === undefined ? 'screen' : 'screenAlone'}
      wanted={wanted}
      isOffered={({ connector }) => connector === SANDBOX}
      onChoose={(session) => navigate({ to: '/simulator', search: { session } })}
      actions={(session) => <ConnectionMenu session={session} />}
      empty={
        <Empty
          icon={<Smartphone />}
          title={simulatorStrings.noSandbox}
          action={
            <LinkButton to="/sessions" look="primary">
              {chatStrings.toSessions}
            </LinkButton>
          }
        >
          {simulatorStrings.noSandboxHint}
        </Empty>
      }
    >
      {(session) => <Simulator key={session.sessionId} session={session} />}
    </SessionScopedPage>
  );
}

/** Simulates what a network does to the connection. */
function ConnectionMenu({ session: { sessionId, status } }: { readonly session: Session }) {
  const { run } = useSimulateAction(sessionId);
  const isOnline = status === 'connected';
  return (
    <Menu
      trigger={
        <IconButton label={simulatorStrings.connection}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      <MenuItem
        disabled={!isOnline}
        onSelect={() =>
          run(
            { action: 'disconnect', reason: simulatorStrings.cutReason, reconnectAfterMs: 5000 },
            simulatorStrings.wasCut,
          )
        }
      >
        {simulatorStrings.cut}
      </MenuItem>
      <MenuItem isDangerous disabled={!isOnline} onSelect={() => run({ action: 'logout' }, simulatorStrings.loggedOut)}>
        {simulatorStrings.logout}
      </MenuItem>
    </Menu>
  );
}

function Simulator({ session }: { readonly session: Session }) {
  const { sessionId, status } = session;
  const { chat: chatId } = route.useSearch();
  const [open, setOpen] = useState<'number' | 'group'>();
  const navigate = useNavigate();
  const chats = useChats(sessionId);
  const nameOf = useNames(sessionId);
  const choose = (chat: string | undefined) => navigate({ to: '/simulator', search: { session: sessionId, chat } });
  const isOnline = status === 'connected';

  return (
    <>
      {!isOnline && <Offline session={session} />}
      <TwoPanes
        isChosen={chatId !== undefined}
        list={
          <>
            <div className="flex items-center justify-between gap-1.5 border-b border-line p-3">
              <h2 className="pl-1 text-sm font-semibold">{simulatorStrings.people}</h2>
              <div>
                <IconButton label={simulatorStrings.createGroup} disabled={!isOnline} onClick={() => setOpen('group')}>
                  <UsersRound />
                </IconButton>
                <IconButton label={simulatorStrings.newContact} onClick={() => setOpen('number')}>
                  <Plus />
                </IconButton>
              </div>
            </div>
            <Loaded query={chats}>
              {() => (
                <ChatList
                  chats={chats.rows}
                  chosen={chatId}
                  onChoose={choose}
                  nameOf={nameOf}
                  more={chats.more}
                  empty={<NoContacts onNew={() => setOpen('number')} />}
                />
              )}
            </Loaded>
          </>
        }
      >
        {chatId === undefined ? (
          <p className="m-auto p-6 text-sm text-ink-faint">{simulatorStrings.choose}</p>
        ) : (
          <PhonePane
            key={chatId}
            session={session}
            chatId={chatId}
            nameOf={nameOf}
            onBack={() => void choose(undefined)}
          />
        )}
      </TwoPanes>
      <PhoneNumberDialog
        title={simulatorStrings.newContactTitle}
        open={open === 'number'}
        onOpenChange={() => setOpen(undefined)}
        onChoose={(number) => void choose(number)}
      />
      <Dialog
        title={simulatorStrings.createGroup}
        description={simulatorStrings.createGroupLead}
        open={open === 'group'}
        onOpenChange={() => setOpen(undefined)}
      >
        <GroupForm sessionId={sessionId} onClose={() => setOpen(undefined)} />
      </Dialog>
    </>
  );
}

function NoContacts({ onNew }: { readonly onNew: () => void }) {
  return (
    <Empty
      icon={<Smartphone />}
      title={simulatorStrings.empty}
      action={
        <Button look="primary" onClick={onNew}>
          {simulatorStrings.newContact}
        </Button>
      }
    >
      {simulatorStrings.emptyHint}
    </Empty>
  );
}

/** Offers to connect a session that is offline, or to pair it. */
function Offline({ session: { sessionId, status } }: { readonly session: Session }) {
  const pair = useSimulateAction(sessionId);
  const connect = useAction('sessions');
  const isPairing = status === 'awaiting_pairing';
  return (
    <Notice tone="warn">
      <div className="flex flex-wrap items-center gap-3">
        {isPairing ? simulatorStrings.pairHint : simulatorStrings.notConnected}
        {isPairing ? (
          <Button
            size="small"
            busy={pair.isPending}
            onClick={() => pair.run({ action: 'pair' }, simulatorStrings.paired)}
          >
            {simulatorStrings.pair}
          </Button>
        ) : (
          <Button
            size="small"
            busy={connect.isPending}
            onClick={() => connect.run(() => api.sessions.connect({ sessionId }))}
          >
            {simulatorStrings.connect}
          </Button>
        )}
      </div>
    </Notice>
  );
}
