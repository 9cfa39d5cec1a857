import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';

const ITEM =
  'flex w-full cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-left text-sm outline-none data-[highlighted]:bg-sunken data-[disabled]:opacity-50 [&>svg]:size-4 [&>svg]:text-ink-faint';

/** A button that opens a menu. */
export function Menu({
  trigger,
  defaultOpen = false,
  children,
}: {
  readonly trigger: ReactNode;
  /** For a menu that mounts when its button is pressed. */
  readonly defaultOpen?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen={defaultOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          collisionPadding={12}
          className="appear z-50 min-w-48 rounded-card border border-line bg-surface p-1.5 shadow-card"
          onCloseAutoFocus={keepMovedFocus}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** Returns the focus to the button once the menu has closed, unless the selected item has moved it. */
function keepMovedFocus(event: Event): void {
  if (document.activeElement !== document.body) event.preventDefault();
}

export function MenuItem({
  onSelect,
  isDangerous = false,
  disabled = false,
  children,
}: {
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={onSelect}
      className={classes(ITEM, isDangerous && 'text-bad [&>svg]:text-bad')}
    >
      {children}
    </DropdownMenu.Item>
  );
}

/** A line between groups of menu items. */
export function MenuLine() {
  return <DropdownMenu.Separator className="my-1.5 h-px bg-line" />;
}

/** Radio items, of which one is selected. */
export function MenuChoice<V extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: V;
  readonly options: readonly (readonly [value: V, text: string])[];
  readonly onChange: (value: V) => void;
}) {
  return (
    // one of the options
    <DropdownMenu.RadioGroup value={value} onValueChange={(chosen) => onChange(chosen as V)}>
      <DropdownMenu.Label className="px-2.5 py-1 text-xs text-ink-faint">{label}</DropdownMenu.Label>
      {options.map(([option, text]) => (
        <DropdownMenu.RadioItem key={option} value={option} className={ITEM}>
          <span aria-hidden className="flex size-4 items-center justify-center">
            <DropdownMenu.ItemIndicator className="size-2 rounded-full bg-accent" />
          </span>
          {text}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}
