import { LOGIN_CHANNEL, type LoginChange } from '../live/protocol.ts';
import { clearDrafts } from '../model/drafts.ts';
import { clearUnsent } from '../model/unsent.ts';

/** All tabs of a browser share one login: data of another account must not stay in any of them. */
const tabs = new BroadcastChannel(LOGIN_CHANNEL);

/** @param accountId the account that logged in, or null after a logout */
export function announceLogin(accountId: string | null): void {
  clearWritten(accountId);
  const change: LoginChange = { accountId };
  tabs.postMessage(change);
}

interface Tab {
  /** The account whose pages this tab shows, if any. */
  readonly accountId: () => string | undefined;
  /** Continues after the same account has logged in again. */
  readonly refresh: () => void;
}

/** A tab of the same account stays as it is, with everything that is being written in it. */
export function followOtherTabs({ accountId: shown, refresh }: Tab): void {
  tabs.onmessage = ({ data: { accountId } }: MessageEvent<LoginChange>) => {
    clearWritten(accountId);
    if (accountId !== null && accountId === shown()) refresh();
    else location.reload();
  };
}

function clearWritten(exceptAccountId: string | null): void {
  clearDrafts(exceptAccountId);
  clearUnsent(exceptAccountId);
}
