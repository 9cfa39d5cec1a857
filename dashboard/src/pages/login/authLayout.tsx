import { type ReactNode, useEffect } from 'react';
import { Button } from '../../components/button.tsx';
import { Form } from '../../components/form/form.tsx';
import { Wordmark } from '../../shell/wordmark.tsx';
import { loginStrings } from '../../strings/login.ts';
import { sharedStrings } from '../../strings/shared.ts';

interface AuthLayoutProps {
  /** Heading, and the label of the submit button. */
  readonly title: string;
  readonly lead: string;
  readonly onSubmit: (fields: FormData) => void;
  readonly error: unknown;
  /** As for `Form`. */
  readonly fields?: readonly string[];
  readonly busy: boolean;
  readonly children: ReactNode;
  readonly footer: ReactNode;
}

/** The layout of the login and the registration page around the fields of their form. */
export function AuthLayout({ title, lead, onSubmit, error, fields, busy, children, footer }: AuthLayoutProps) {
  useEffect(() => {
    document.title = `${title} · ${sharedStrings.product}`;
  }, [title]);
  return (
    <div className="grid min-h-dvh wide:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
      <aside className="hidden flex-col justify-between bg-sunken p-12 wide:flex">
        <Wordmark />
        <Cords />
        <p className="max-w-sm text-lg text-pretty text-ink-soft">{loginStrings.pitch}</p>
      </aside>
      <main className="flex flex-col justify-center px-5 py-12 wide:px-16">
        <div className="mx-auto grid w-full max-w-sm gap-6">
          <div className="mb-4 wide:hidden">
            <Wordmark />
          </div>
          <div>
            <h1 className="text-2xl font-semibold">{title}</h1>
            <p className="mt-1 text-sm text-ink-soft">{lead}</p>
          </div>
          <Form error={error} fields={fields} onSubmit={(form) => onSubmit(new FormData(form))}>
            {children}
            <Button type="submit" look="primary" busy={busy}>
              {title}
            </Button>
          </Form>
          <p className="text-sm text-ink-soft">{footer}</p>
        </div>
      </main>
    </div>
  );
}

const ROWS = 5;
const COLUMNS = 7;
/** Cords between jacks: column and row of either end. */
const joined = [
  [0, 3, 3, 1, 'accent'],
  [2, 4, 5, 0, 'warn-lamp'],
  [1, 0, 6, 3, 'good-lamp'],
] as const;
const x = (column: number) => 24 + column * 62;
const y = (row: number) => 24 + row * 62;

/** An illustration of a switchboard: jacks with cords between them. */
function Cords() {
  return (
    <svg aria-hidden viewBox={`0 0 ${x(COLUMNS - 1) + 24} ${y(ROWS - 1) + 60}`} className="w-full max-w-lg" fill="none">
      {Array.from({ length: ROWS * COLUMNS }, (_, jack) => {
        const [column, row] = [jack % COLUMNS, Math.floor(jack / COLUMNS)];
        return (
          <circle
            key={`${column}-${row}`}
            cx={x(column)}
            cy={y(row)}
            r="9"
            stroke="var(--line-strong)"
            strokeWidth="2"
          />
        );
      })}
      {joined.map(([fromColumn, fromRow, toColumn, toRow, color]) => {
        const [x1, y1, x2, y2] = [x(fromColumn), y(fromRow), x(toColumn), y(toRow)];
        const sag = Math.max(y1, y2) + 70;
        return (
          <g key={color} stroke={`var(--${color})`}>
            <path d={`M${x1} ${y1}C${x1} ${sag} ${x2} ${sag} ${x2} ${y2}`} strokeWidth="4" strokeLinecap="round" />
            <circle cx={x1} cy={y1} r="6" fill={`var(--${color})`} />
            <circle cx={x2} cy={y2} r="6" fill={`var(--${color})`} />
          </g>
        );
      })}
    </svg>
  );
}
