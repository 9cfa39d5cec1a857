import { clearDrafts } from '../model/drafts.ts';

/** All tabs of a browser have one login: what another account has read must not stay in one of them. */
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
