import type { Message } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { MoreFailed } from '../../components/page/more.tsx';
import { ScrollArea } from '../../components/page/scrollArea.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { Time } from '../../components/text/time.tsx';
import type { NameOf } from '../../model/names.ts';
import { usePaged } from '../../paged.ts';
import { messageStrings } from '../../strings/chats.ts';

/** Interval of reading receipts again: in a group, only the first one of each status is an event. */
const EVERY_MS = 5000;
const NUMBER = 'py-1.5 pl-4 text-right whitespace-nowrap text-ink-faint';

interface ReceiptsProps {
  readonly message: Pick<Message, 'messageId' | 'from' | 'chatId' | 'groupId'>;
  readonly nameOf: NameOf;
}

type Receipt = Awaited<ReturnType<typeof api.messages.receipts>>['data'][number];

/** Returns the people who can read a message; undefined while they are unknown. */
function useRecipients({ from, chatId, groupId }: ReceiptsProps['message']): readonly string[] | undefined {
  const { data: group } = useQuery({
    queryKey: ['groups', groupId],
    queryFn: () => api.groups.get({ groupId: groupId ?? '' }),
    enabled: groupId !== undefined,
  });
  if (groupId === undefined) return [chatId];
  return group?.participants.flatMap(({ phoneNumber }) => (phoneNumber === from ? [] : [phoneNumber]));
}

/** The people who received and read a sent message, and when. */
export function Receipts({ message, nameOf }: ReceiptsProps) {
  const { messageId } = message;
  const strings = messageStrings.receipts;
  const read = (page: { limit: number; cursor?: string }) => api.messages.receipts({ messageId, ...page });
  const recipients = useRecipients(message);
  const isFinal = (rows: readonly Receipt[]) => {
    const readers = new Set(rows.flatMap(({ phoneNumber, readAt }) => (readAt === null ? [] : [phoneNumber])));
    return readers.size === rows.length && recipients?.every((number) => readers.has(number)) === true;
  };
  const list = usePaged(['messages', messageId, 'receipts'], read, { everyMs: EVERY_MS, isFinal });
  return (
    <section aria-label={strings.title}>
      <h3 className="mb-1 text-sm font-medium">{strings.title}</h3>
      <Loaded query={list}>
        {() =>
          list.rows.length === 0 ? (
            <p className="text-sm text-ink-faint">{strings.none}</p>
          ) : (
            <>
              <ScrollArea label={strings.list} className="max-h-72">
                <table className="w-full text-sm">
                  <thead className="text-xs text-ink-faint">
                    <tr>
                      <th className="text-left font-normal">{strings.person}</th>
                      <th className="pl-4 text-right font-normal">{strings.delivered}</th>
                      <th className="pl-4 text-right font-normal">{strings.read}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.rows.map(({ phoneNumber, deliveredAt, readAt }) => (
                      <tr key={phoneNumber} className="border-t border-line">
                        <td className="py-1.5 wrap-anywhere">{nameOf(phoneNumber)}</td>
                        <td className={NUMBER}>
                          <Time at={deliveredAt} as="minute" />
                        </td>
                        <td className={NUMBER}>
                          {readAt === null ? strings.notReported : <Time at={readAt} as="minute" />}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </ScrollArea>
              <MoreFailed more={list.more} />
              {list.more.load !== undefined && list.more.error === null && (
                <Button size="small" busy={list.more.isLoading} className="mt-2" onClick={() => list.more.load?.()}>
                  {strings.more}
                </Button>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  );
}
