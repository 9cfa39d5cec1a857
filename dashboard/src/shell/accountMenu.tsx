import { ChevronsUpDown } from 'lucide-react';
import { type ComponentProps, type ComponentType, useState } from 'react';
import { errorText } from '../api.ts';
import { useToast } from '../components/toast.tsx';
import { PageCodeError } from '../lazyPage.tsx';
import { shellStrings } from '../strings/shell.ts';
import { useAccount } from './account.ts';
import type { OpenAccountMenu } from './openAccountMenu.tsx';

const loadMenu = () => import('./openAccountMenu.tsx');

/** The button of the account menu. The code of menus is a tenth of the first page, so it loads with the first press. */
export function AccountMenu() {
  const [Menu, setMenu] = useState<ComponentType<ComponentProps<typeof OpenAccountMenu>>>();
  const toast = useToast();

  async function open() {
    try {
      const { OpenAccountMenu } = await loadMenu();
      setMenu(() => OpenAccountMenu);
    } catch (cause) {
      toast(errorText(new PageCodeError(cause)), 'bad');
    }
  }

  if (Menu !== undefined) return <Menu trigger={<AccountButton />} />;
  return <AccountButton aria-haspopup="menu" aria-expanded={false} onClick={open} />;
}

function AccountButton(props: ComponentProps<'button'>) {
  const { email, name } = useAccount();
  return (
    <button
      type="button"
      className="flex w-full items-center gap-2.5 rounded-lg px-2.5 py-2 text-left text-sm hover:bg-sunken"
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
