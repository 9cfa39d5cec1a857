import { ChevronsUpDown } from 'lucide-react';
import { type ComponentProps, type ComponentType, type SyntheticEvent, useState } from 'react';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account.ts';
import type { AccountMenuContent } from './accountMenuContent.tsx';
import { shellStrings } from './strings.ts';

const loadContent = () => import('./accountMenuContent.tsx');
const preload = () => void loadContent().catch(() => {}); // `open` reports the error

/** The button of the account menu. The code of menus is a tenth of the first page, so it loads on first use. */
export function AccountMenu({ onFollow }: { readonly onFollow?: () => void }) {
  const [Menu, setMenu] = useState<ComponentType<ComponentProps<typeof AccountMenuContent>>>();
  const toast = useToast();

  async function open({ currentTarget: button }: SyntheticEvent) {
    try {
      const { AccountMenuContent } = await loadContent();
      // The reader may have gone on while it was loading.
      if ([button, document.body].includes(document.activeElement as HTMLElement)) setMenu(() => AccountMenuContent);
    } catch {
      toast(shellStrings.menuFailed, 'bad');
    }
  }

  if (Menu !== undefined) return <Menu trigger={<AccountButton ref={keepFocus} />} onFollow={onFollow} />;
  return (
    <AccountButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') void open(event);
      }}
    />
  );
}

/**
 * The button replaces the one that was pressed. Otherwise the dialog around it would take the focus, which closes the
 * menu.
 */
const keepFocus = (button: HTMLButtonElement | null) => button?.focus();

function AccountButton(props: ComponentProps<'button'>) {
  const { email, name } = useAccount();
  return (
    <button
      type="button"
      title={name ?? email}
      className="flex w-full min-w-0 items-center gap-2.5 rounded-lg px-2.5 py-2 text-left text-sm hover:bg-sunken"
      {...props}
    >
      <span className="sr-only">{shellStrings.account}: </span>
      <span
        aria-hidden
        className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent text-xs font-semibold text-on-accent"
      >
        {(name ?? email).slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 flex-1 truncate">{name ?? email}</span>
      <ChevronsUpDown aria-hidden className="size-4 text-ink-faint" />
    </button>
  );
}
