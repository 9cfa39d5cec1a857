/** Marks the section that the reader sees in the list "On this page". */
export function markCurrentSection(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.outline a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  const headings = [...document.querySelectorAll<HTMLElement>('article [id]')].filter(({ id }) => links.has(id));
  if (headings.length === 0) return;

  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 4);
    const current = passed.at(-1) ?? headings[0];
    for (const [id, link] of links)
      if (id === current?.id) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
  };
  // Called once when a heading crosses the line, instead of with every step of the scrolling.
  const observer = new IntersectionObserver(mark, { rootMargin: '0px 0px -75% 0px' });
  for (const heading of headings) observer.observe(heading);
}
