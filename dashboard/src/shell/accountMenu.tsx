import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, LogOut, UserRound } from 'lucide-react';
import { useState } from 'react';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../components/menu.tsx';
import { shellStrings } from '../strings/shell.ts';
import { chooseTheme, readThemeChoice } from '../theme.ts';
import { useAccount } from './account.ts';
import { useLogOut } from './login.ts';

export function AccountMenu() {
  const { email, name } = useAccount();
  const [theme, setTheme] = useState(readThemeChoice);
  const navigate = useNavigate();
  const logOut = useLogOut();
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="flex w-full items-center gap-2.5 rounded-lg px-2.5 py-2 text-left text-sm hover:bg-sunken"
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
      }
    >
      <MenuItem onSelect={() => navigate({ to: '/account' })}>
        <UserRound aria-hidden />
        {shellStrings.accountSettings}
      </MenuItem>
      <MenuLine />
      <MenuChoice
        label={shellStrings.theme}
        value={theme}
        options={[
          ['system', shellStrings.themes.system],
          ['light', shellStrings.themes.light],
          ['dark', shellStrings.themes.dark],
        ]}
        onChange={(choice) => {
          chooseTheme(choice);
          setTheme(choice);
        }}
      />
      <MenuLine />
      <MenuItem onSelect={logOut}>
        <LogOut aria-hidden />
        {shellStrings.logOut}
      </MenuItem>
    </Menu>
  );
}
