import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useMemo, useRef, useState } from 'react';
import { IconButton } from '../components/button.tsx';
import { useIsWide } from '../components/page/isWide.ts';
import { LiveConnection } from '../live/connection.ts';
import { LiveContext, useRefreshOnEvents } from '../live/live.ts';
import { sharedStrings } from '../strings/shared.ts';
import { useAccount } from './account.ts';
import { AccountMenu } from './accountMenu.tsx';
import { LiveIndicator } from './liveIndicator.tsx';
import { LoginAgain } from './loginAgain.tsx';
import { navigation } from './navigation.ts';
import { PendingBadge } from './pendingBadge.tsx';
import { shellStrings } from './strings.ts';
import { Wordmark } from './wordmark.tsx';

/** The frame of all pages that need a login. */
export function Shell() {
  const { accountId } = useAccount();
  const live = useMemo(() => new LiveConnection(accountId), [accountId]);
  useEffect(() => {
    live.start();
    return () => live.stop();
  }, [live]);
  const isWide = useIsWide();

  return (
    <LiveContext value={live}>
      <RefreshOnEvents />
      <LoginAgain />
      <a
        href="#content"
        className="sr-only rounded-lg bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50"
      >
        {sharedStrings.skipToContent}
      </a>
      <div className="min-h-dvh wide:grid wide:grid-cols-[15.5rem_minmax(0,1fr)]">
        {isWide ? <Sidebar /> : <TopBar />}
        <Content />
      </div>
    </LiveContext>
  );
}

function RefreshOnEvents() {
  useRefreshOnEvents();
  return null;
}

/** The current page. A new page takes the focus, so that screen readers and the keyboard continue at its start. */
function Content() {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const seen = useRef(pathname);
  useEffect(() => {
    if (seen.current === pathname) return;
    seen.current = pathname;
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <main id="content" ref={main} tabIndex={-1} className="min-w-0 outline-none">
      <Outlet />
    </main>
  );
}

function Sidebar() {
  return (
    <header className="sticky top-0 flex h-dvh flex-col border-r border-line px-3 py-4">
      <div className="px-2.5 pb-5">
        <Wordmark />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Navigation />
      </div>
      <div className="grid gap-2 border-t border-line pt-3">
        <LiveIndicator />
        <AccountMenu />
      </div>
    </header>
  );
}

function TopBar() {
  const [isOpen, setOpen] = useState(false);
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b border-line bg-paper px-3">
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Trigger asChild>
          <IconButton label={shellStrings.openNavigation}>
            <MenuIcon />
          </IconButton>
        </Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
          <Dialog.Content
            aria-describedby={undefined}
            className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col overflow-y-auto bg-paper p-3 shadow-card"
          >
            <div className="flex items-center justify-between pb-4 pl-2.5">
              <Dialog.Title className="sr-only">{shellStrings.navigation}</Dialog.Title>
              <Wordmark />
              <Dialog.Close asChild>
                <IconButton label={sharedStrings.close}>
                  <X />
                </IconButton>
              </Dialog.Close>
            </div>
            <Navigation onFollow={() => setOpen(false)} />
            <div className="mt-auto grid gap-2 border-t border-line pt-3">
              <LiveIndicator />
              <AccountMenu onFollow={() => setOpen(false)} />
            </div>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      <Wordmark />
      <span className="size-9" />
    </header>
  );
}

function Navigation({ onFollow }: { readonly onFollow?: () => void }) {
  return (
    <nav aria-label={shellStrings.navigation} className="grid gap-5">
      {navigation.map(({ title, links }) => (
        <div key={title}>
          <p className="px-2.5 pb-1 text-xs text-ink-faint">{title}</p>
          <ul className="grid gap-0.5">
            {links.map((link) => (
              <li key={link.title}>
                <NavigationLink link={link} onFollow={onFollow} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

const NAVIGATION_LINK =
  'flex items-center gap-3 rounded-lg px-2.5 py-1.5 text-sm text-ink-soft no-underline transition-colors hover:bg-sunken hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent [&>svg]:size-4.5';

function NavigationLink({
  link,
  onFollow,
}: {
  readonly link: (typeof navigation)[number]['links'][number];
  readonly onFollow: (() => void) | undefined;
}) {
  const { title, icon: Icon } = link;
  const content = (
    <>
      <Icon aria-hidden strokeWidth={1.75} />
      {title}
    </>
  );
  if ('href' in link) {
    return (
      <a href={link.href} className={NAVIGATION_LINK}>
        {content}
      </a>
    );
  }
  return (
    <Link to={link.to} onClick={onFollow} activeOptions={{ exact: link.to === '/' }} className={NAVIGATION_LINK}>
      {content}
      {link.to === '/approvals' && <PendingBadge />}
    </Link>
  );
}
