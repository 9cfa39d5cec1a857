import type { Session } from '@switchboard/sdk/api';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { MessagesSquare, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { ChatList } from '../../components/chat/chatList.tsx';
import { PhoneNumberDialog } from '../../components/chat/phoneNumberDialog.tsx';
import { TwoPanes } from '../../components/chat/twoPanes.tsx';
import { Empty, Loaded } from '../../components/page/states.tsx';
import { SessionScopedPage } from '../../components/session/sessionScopedPage.tsx';
import { useChats } from '../../model/chats.ts';
import { type NameOf, useNames } from '../../model/names.ts';
import { chatStrings } from '../../strings/chats.ts';
import { AdFilter } from './adFilter.tsx';
import { ChatPane } from './chatPane.tsx';
import { type AdSearch, adFilterOf, type ChatSearch } from './search.ts';
import { SearchResults } from './searchResults.tsx';

const route = getRouteApi('/shell/chats');

export function ChatsPage() {
  const { session: wanted, chat } = route.useSearch();
  const navigate = useNavigate();
  return (
    <SessionScopedPage
      strings={chatStrings}
      fit={chat === undefined ? 'screen' : 'screenAlone'}
      wanted={wanted}
      onChoose={(session) => navigate({ to: '/chats', search: { session } })}
    >
      {(session) => <Chats key={session.sessionId} session={session} />}
    </SessionScopedPage>
  );
}

/** Opens a chat, or a search result in it. */
type OpenChat = (target: Omit<ChatSearch, 'session' | keyof AdSearch>) => void;

function Chats({ session }: { readonly session: Session }) {
  const { sessionId } = session;
  const { chat: chatId, message, upTo, ...search } = route.useSearch();
  const ads: AdSearch = { ads: search.ads, adId: search.adId };
  const navigate = useNavigate();
  const chats = useChats(sessionId, adFilterOf(ads));
  const nameOf = useNames(sessionId);
  const open: OpenChat = (target) => void navigate({ to: '/chats', search: { session: sessionId, ...ads, ...target } });

  return (
    <TwoPanes
      isChosen={chatId !== undefined}
      list={
        <ListPane
          sessionId={sessionId}
          chats={chats}
          chosen={chatId}
          ads={ads}
          onFilter={(ads) => navigate({ to: '/chats', search: { session: sessionId, chat: chatId, ...ads } })}
          nameOf={nameOf}
          onOpen={open}
        />
      }
    >
      {chatId === undefined ? (
        <p className="m-auto p-6 text-sm text-ink-faint">{chatStrings.choose}</p>
      ) : (
        <ChatPane
          key={`${chatId} ${upTo}`}
          session={session}
          chatId={chatId}
          listed={chats.rows}
          nameOf={nameOf}
          foundId={message}
          upTo={upTo}
          onBack={() => open({})}
          onNewest={() => open({ chat: chatId })}
        />
      )}
    </TwoPanes>
  );
}

interface ListPaneProps {
  readonly sessionId: string;
  readonly chats: ReturnType<typeof useChats>;
  readonly chosen: string | undefined;
  readonly ads: AdSearch;
  readonly onFilter: (ads: AdSearch) => void;
  readonly nameOf: NameOf;
  readonly onOpen: OpenChat;
}

function ListPane({ sessionId, chats, chosen, ads, onFilter, nameOf, onOpen }: ListPaneProps) {
  const [text, setText] = useState('');
  const [isNew, setNew] = useState(false);
  const query = text.trim();
  return (
    <>
      <div className="flex items-center gap-1.5 border-b border-line p-3">
        <input
          type="search"
          aria-label={chatStrings.search}
          placeholder={chatStrings.search}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          className="h-9 min-w-0 flex-1 rounded-lg border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-faint"
        />
        <IconButton label={chatStrings.newChat} onClick={() => setNew(true)}>
          <Plus />
        </IconButton>
      </div>
      <AdFilter value={ads} onChange={onFilter} />
      {query === '' ? (
        <Loaded query={chats}>
          {() => (
            <ChatList
              chats={chats.rows}
              chosen={chosen}
              onChoose={(chat) => onOpen({ chat })}
              nameOf={nameOf}
              more={chats.more}
              empty={
                ads.ads ? (
                  <Empty icon={<MessagesSquare />} title={chatStrings.adFilter.empty} />
                ) : (
                  <Empty
                    icon={<MessagesSquare />}
                    title={chatStrings.empty}
                    action={<Button onClick={() => setNew(true)}>{chatStrings.newChat}</Button>}
                  >
                    {chatStrings.emptyHint}
                  </Empty>
                )
              }
            />
          )}
        </Loaded>
      ) : (
        <SearchResults
          sessionId={sessionId}
          text={query}
          ads={ads}
          nameOf={nameOf}
          onChoose={({ chatId: chat, messageId, timestamp }) => onOpen({ chat, message: messageId, upTo: timestamp })}
        />
      )}
      <PhoneNumberDialog
        title={chatStrings.newChatTitle}
        open={isNew}
        onOpenChange={setNew}
        onChoose={(chat) => onOpen({ chat })}
      />
    </>
  );
}
