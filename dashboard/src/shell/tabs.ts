import { forgetDrafts } from '../model/drafts.ts';

/** All tabs of a browser have one login: what another account has read must not stay in one of them. */
const tabs = new BroadcastChannel('login');

export function tellOtherTabs(): void {
  tabs.postMessage('changed');
}

export function followOtherTabs(): void {
  tabs.onmessage = () => {
    forgetDrafts();
    location.reload();
  };
}
