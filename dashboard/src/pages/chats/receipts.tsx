import type { Message } from '@switchboard/sdk/api';
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

/** The people who received and read a sent message, and when. */
export function Receipts({
  message: { messageId },
  nameOf,
}: {
  readonly message: Pick<Message, 'messageId'>;
  readonly nameOf: NameOf;
}) {
  const strings = messageStrings.receipts;
  const read = (page: { limit: number; cursor?: string }) => api.messages.receipts({ messageId, ...page });
  const list = usePaged(['messages', messageId, 'receipts'], read, { everyMs: EVERY_MS });
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
