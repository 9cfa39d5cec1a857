import { useNavigate } from '@tanstack/react-router';
import { LogOut, UserRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../components/menu.tsx';
import { chooseTheme, readThemeChoice } from '../theme.ts';
import { useLogOut } from './login.ts';
import { shellStrings } from './strings.ts';

/** The account menu, open when it mounts. */
export function AccountMenuContent({
  trigger,
  onFollow,
}: {
  readonly trigger: ReactNode;
  /** Called when the reader follows a link to another page. */
  readonly onFollow?: (() => void) | undefined;
}) {
  const [theme, setTheme] = useState(readThemeChoice);
  const navigate = useNavigate();
  const logOut = useLogOut();
  return (
    <Menu defaultOpen trigger={trigger}>
      <MenuItem
        onSelect={() => {
          onFollow?.();
          void navigate({ to: '/account' });
        }}
      >
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
