import type { Session } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { EllipsisVertical, Plus, Smartphone, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { api, errorText } from '../../api.ts';
import { Button, buttonClass, IconButton } from '../../components/button.tsx';
import { ChatList } from '../../components/chat/chatList.tsx';
import { PhoneNumberDialog } from '../../components/chat/phoneNumberDialog.tsx';
import { TwoPanes } from '../../components/chat/twoPanes.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { Notice } from '../../components/notice.tsx';
import { NoSession, SessionSelect } from '../../components/sessionSelect.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { useChats } from '../../model/chats.ts';
import { useNames } from '../../model/names.ts';
import { useChosenSession } from '../../model/sessions.ts';
import { chatWords } from '../../strings/chats.ts';
import { simulatorWords } from '../../strings/simulator.ts';
import { GroupDialog } from './groupDialog.tsx';
import { PhonePane } from './phonePane.tsx';
import { useSimulateButton } from './simulate.ts';

const route = getRouteApi('/shell/simulator');

/** The other side of the sandbox network, played by hand. */
export function SimulatorPage() {
  const { session: wanted, chat } = route.useSearch();
  const navigate = useNavigate();
  const { sessions, query } = useChosenSession(wanted, ({ connector }) => connector === 'sandbox');
  const chosen = query.data?.chosen;

  return (
    <Page
      title={simulatorWords.title}
      lead={simulatorWords.lead}
      fit={chat === undefined ? 'screen' : 'screenAlone'}
      actions={
        <>
          {query.data !== undefined && sessions.length > 0 && (
            <SessionSelect
              sessions={sessions}
              chosen={chosen}
              onChoose={(session) => navigate({ to: '/simulator', search: { session } })}
            />
          )}
          {chosen !== undefined && <ConnectionMenu session={chosen} />}
        </>
      }
    >
      <Loaded query={query}>
        {() =>
          chosen === undefined && wanted !== undefined ? (
            <Card flush>
              <NoSession wanted={wanted} />
            </Card>
          ) : chosen === undefined ? (
            <Card flush>
              <Empty
                icon={<Smartphone />}
                title={simulatorWords.noSandbox}
                action={
                  <Link to="/sessions" className={buttonClass('primary')}>
                    {chatWords.toSessions}
                  </Link>
                }
              >
                {simulatorWords.noSandboxHint}
              </Empty>
            </Card>
          ) : (
            <Simulator key={chosen.sessionId} session={chosen} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** What a network does to a session. */
function ConnectionMenu({ session: { sessionId, status } }: { readonly session: Session }) {
  const run = useSimulateButton(sessionId);
  const isOnline = status === 'connected';
  return (
    <Menu
      trigger={
        <IconButton label={simulatorWords.connection}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      <MenuItem
        disabled={!isOnline}
        onSelect={() =>
          run.mutate({
            action: { action: 'disconnect', reason: simulatorWords.cutReason, reconnectAfterMs: 5000 },
            done: simulatorWords.wasCut,
          })
        }
      >
        {simulatorWords.cut}
      </MenuItem>
      <MenuItem
        isDangerous
        disabled={!isOnline}
        onSelect={() => run.mutate({ action: { action: 'logout' }, done: simulatorWords.loggedOut })}
      >
        {simulatorWords.logout}
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
              <h2 className="pl-1 text-sm font-semibold">{simulatorWords.people}</h2>
              <div>
                <IconButton label={simulatorWords.createGroup} disabled={!isOnline} onClick={() => setOpen('group')}>
                  <UsersRound />
                </IconButton>
                <IconButton label={simulatorWords.newContact} onClick={() => setOpen('number')}>
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
                  empty={
                    <Empty
                      icon={<Smartphone />}
                      title={simulatorWords.empty}
                      action={
                        <Button look="primary" onClick={() => setOpen('number')}>
                          {simulatorWords.newContact}
                        </Button>
                      }
                    >
                      {simulatorWords.emptyHint}
                    </Empty>
                  }
                />
              )}
            </Loaded>
          </>
        }
      >
        {chatId === undefined ? (
          <p className="m-auto p-6 text-sm text-ink-faint">{simulatorWords.choose}</p>
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
        title={simulatorWords.newContactTitle}
        open={open === 'number'}
        onOpenChange={() => setOpen(undefined)}
        onChoose={(number) => void choose(number)}
      />
      <GroupDialog sessionId={sessionId} open={open === 'group'} onClose={() => setOpen(undefined)} />
    </>
  );
}

/** The session cannot be written to: the way to change that. */
function Offline({ session: { sessionId, status } }: { readonly session: Session }) {
  const run = useSimulateButton(sessionId);
  const queries = useQueryClient();
  const toast = useToast();
  const connect = useMutation({
    mutationFn: () => api.sessions.connect({ sessionId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
    onError: (error) => toast(errorText(error), 'bad'),
  });
  const isPairing = status === 'awaiting_pairing';
  return (
    <Notice tone="warn">
      <div className="flex flex-wrap items-center gap-3">
        {isPairing ? simulatorWords.pairHint : simulatorWords.notConnected}
        {isPairing ? (
          <Button
            size="small"
            busy={run.isPending}
            onClick={() => run.mutate({ action: { action: 'pair' }, done: simulatorWords.paired })}
          >
            {simulatorWords.pair}
          </Button>
        ) : (
          <Button size="small" busy={connect.isPending} onClick={() => connect.mutate()}>
            {simulatorWords.connect}
          </Button>
        )}
      </div>
    </Notice>
  );
}
