import { Menu, Moon, Sun, X } from 'lucide-react';
import { IconButton } from '../../components/button.tsx';
import { classes } from '../../components/classes.ts';
import { Wordmark } from '../../shell/wordmark.tsx';
import { toggleTheme, useTheme } from '../../theme.ts';
import { referenceStrings } from './strings.ts';

const PARTS = [
  ['/docs/guides/', referenceStrings.guides],
  ['/docs', referenceStrings.title],
  ['/docs/errors', referenceStrings.errorResponses],
] as const;
const LINK =
  'rounded-lg px-2 py-1.5 whitespace-nowrap text-ink-soft no-underline hover:bg-sunken hover:text-ink wide:px-3';

/** The head of the page, like that of the guides: the parts of the documentation, the theme and the dashboard. */
export function ReferenceBar({ isOpen, onToggle }: { readonly isOpen: boolean; readonly onToggle: () => void }) {
  const isDark = useTheme() === 'dark';
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-1 border-b border-line bg-paper px-2 text-sm wide:gap-2 wide:px-5">
      <IconButton
        label={isOpen ? referenceStrings.closeNavigation : referenceStrings.openNavigation}
        aria-expanded={isOpen}
        className="wide:hidden"
        onClick={onToggle}
      >
        {isOpen ? <X /> : <Menu />}
      </IconButton>
      <a href="/docs" className="text-ink no-underline max-sm:[&_span_span]:sr-only">
        <Wordmark />
      </a>
      <nav aria-label={referenceStrings.documentation} className="flex wide:ml-4 wide:gap-0.5">
        {PARTS.map(([href, name]) => (
          <a
            key={href}
            href={href}
            {...(href === '/docs' && { 'aria-current': 'page' })}
            className={classes(LINK, href === '/docs' && 'bg-accent-soft font-medium text-accent')}
          >
            {name}
          </a>
        ))}
      </nav>
      <div className="ml-auto flex items-center gap-1">
        <IconButton label={isDark ? referenceStrings.toLight : referenceStrings.toDark} onClick={toggleTheme}>
          {isDark ? <Sun /> : <Moon />}
        </IconButton>
        <a href="/" className={classes(LINK, 'max-wide:hidden')}>
          {referenceStrings.dashboard}
        </a>
      </div>
    </header>
  );
}
