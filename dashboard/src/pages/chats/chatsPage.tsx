import type { Session } from '@switchboard/sdk/api';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { MessagesSquare, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { ChatList } from '../../components/chat/chatList.tsx';
import { PhoneNumberDialog } from '../../components/chat/phoneNumberDialog.tsx';
import { TwoPanes } from '../../components/chat/twoPanes.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { NoSession, SessionSelect } from '../../components/sessionSelect.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useChats } from '../../model/chats.ts';
import { useNames } from '../../model/names.ts';
import { useChosenSession } from '../../model/sessions.ts';
import { chatWords } from '../../strings/chats.ts';
import { ChatPane } from './chatPane.tsx';
import { SearchResults } from './searchResults.tsx';

const route = getRouteApi('/shell/chats');

export function ChatsPage() {
  const { session: wanted, chat } = route.useSearch();
  const navigate = useNavigate();
  const { sessions, query } = useChosenSession(wanted);
  const chosen = query.data?.chosen;

  return (
    <Page
      title={chatWords.title}
      lead={chatWords.lead}
      fit={chat === undefined ? 'screen' : 'screenAlone'}
      actions={
        query.data !== undefined &&
        sessions.length > 0 && (
          <SessionSelect
            sessions={sessions}
            chosen={chosen}
            onChoose={(session) => navigate({ to: '/chats', search: { session } })}
          />
        )
      }
    >
      <Loaded query={query}>
        {() =>
          chosen === undefined ? (
            <Card flush>
              <NoSession wanted={wanted} />
            </Card>
          ) : (
            <Chats key={chosen.sessionId} session={chosen} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Chats({ session }: { readonly session: Session }) {
  const { sessionId } = session;
  const { chat: chatId, message, upTo } = route.useSearch();
  const [text, setText] = useState('');
  const [isNew, setNew] = useState(false);
  const navigate = useNavigate();
  const chats = useChats(sessionId);
  const nameOf = useNames(sessionId);
  const words = text.trim();

  const open = (chat: string | undefined, found: { message?: string; upTo?: string } = {}) =>
    navigate({ to: '/chats', search: { session: sessionId, chat, ...found } });

  return (
    <>
      <TwoPanes
        isChosen={chatId !== undefined}
        list={
          <>
            <div className="flex items-center gap-1.5 border-b border-line p-3">
              <input
                type="search"
                aria-label={chatWords.search}
                placeholder={chatWords.search}
                value={text}
                onChange={(event) => setText(event.currentTarget.value)}
                className="h-9 min-w-0 flex-1 rounded-lg border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-faint"
              />
              <IconButton label={chatWords.newChat} onClick={() => setNew(true)}>
                <Plus />
              </IconButton>
            </div>
            {words === '' ? (
              <Loaded query={chats}>
                {() => (
                  <ChatList
                    chats={chats.rows}
                    chosen={chatId}
                    onChoose={(chat) => open(chat)}
                    nameOf={nameOf}
                    more={chats.more}
                    empty={
                      <Empty
                        icon={<MessagesSquare />}
                        title={chatWords.empty}
                        action={<Button onClick={() => setNew(true)}>{chatWords.newChat}</Button>}
                      >
                        {chatWords.emptyHint}
                      </Empty>
                    }
                  />
                )}
              </Loaded>
            ) : (
              <SearchResults
                sessionId={sessionId}
                text={words}
                nameOf={nameOf}
                onChoose={({ chatId: chat, messageId, timestamp }) =>
                  open(chat, { message: messageId, upTo: timestamp })
                }
              />
            )}
          </>
        }
      >
        {chatId === undefined ? (
          <p className="m-auto p-6 text-sm text-ink-faint">{chatWords.choose}</p>
        ) : (
          <ChatPane
            key={`${chatId} ${upTo}`}
            session={session}
            chatId={chatId}
            listed={chats.rows}
            nameOf={nameOf}
            foundId={message}
            upTo={upTo}
            onBack={() => open(undefined)}
            onNewest={() => open(chatId)}
          />
        )}
      </TwoPanes>
      <PhoneNumberDialog
        title={chatWords.newChatTitle}
        open={isNew}
        onOpenChange={setNew}
        onChoose={(chat) => void open(chat)}
      />
    </>
  );
}
