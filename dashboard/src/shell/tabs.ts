import { clearDrafts } from '../model/drafts.ts';

/** All tabs of a browser share one login: data of another account must not stay in any of them. */
const tabs = new BroadcastChannel('login');

export function notifyOtherTabs(): void {
  tabs.postMessage('changed');
}

export function followOtherTabs(): void {
  tabs.onmessage = () => {
    clearDrafts();
    location.reload();
  };
}
