"""The viewer in Chromium: every view opens, reads, walks and links; nothing leaves the file."""

import pathlib
import re
import unittest

from axe_playwright_python.sync_playwright import Axe

import pictures
from browser import PAGES, READY, Browser, html, summary, with_summary, written

# Every view, with what its heading has to say.
VIEWS = {
    "#/findings": "leaked object",
    "#/types": "Types",
    "#/objects": "Objects",
    "#/objects?q=type:App.Frame": "Objects",
    "#/retainers": "Retained by",
    "#/retainers?f=1": "Who retains",
    "#/references?f=1": "refer to",
    "#/map": "emory",
    "#/map?as=icicle": "emory",
    "#/map?group=objects": "emory",
    "#/allocations": "llocat",
    "#/allocations?as=inverted": "llocat",
    "#/allocations?as=sandwich": "llocat",
    "#/compare": "ompare",
}

# Views that have every colour between them.
DARK = ("#/findings", "#/types", "#/retainers?f=1", "#/map")


class ViewerTest(unittest.TestCase):
    """Opens one browser for all tests; each test has a page without history."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def fine(self, report, problems=()):
        """Nothing was said that must not be said, and nothing asked of the network."""
        left = [text for text in report.problems if not any(known in text for known in problems)]
        self.assertEqual(left, [])
        self.assertEqual(report.leaving(), [])
        self.assertEqual(report.dialogs, [])

    def heading(self, page):
        return " ".join(page.locator("h1:visible").all_inner_texts())

    def accessible(self, page, place):
        found = Axe().run(page).response["violations"]
        told = [f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}" for rule in found for node in rule["nodes"][:3]]
        self.assertEqual(told, [], place)


class ViewsTest(ViewerTest):
    def test_each_view_opens_and_is_accessible_in_light_and_dark(self):
        for scheme in ("light", "dark"):
            with self.browser.report("clinic", color_scheme=scheme) as report:
                for place, words in VIEWS.items():
                    with self.subTest(view=place, scheme=scheme):
                        page = report.open(place)
                        self.assertIn(words, self.heading(page))
                        # In the dark only colours differ, and the views share them.
                        if scheme == "light" or place in DARK:
                            self.accessible(page, f"{place} {scheme}")
                self.fine(report)

    def test_every_report_opens(self):
        for name in ("one", "clean", "waiting", "part"):
            with self.subTest(report=name), self.browser.report(name) as report:
                for place in ("#/findings", "#/types", "#/objects", "#/retainers", "#/map", "#/allocations", "#/tasks", "#/compare"):
                    page = report.open(place)
                    self.assertTrue(self.heading(page))
                self.assertEqual(page.locator(".banner.bad").count(), 0)
                self.fine(report)

    def test_tasks(self):
        with self.browser.report("waiting") as report:
            page = report.open("#/tasks")
            text = page.locator("#mg-main").inner_text()
            self.assertIn("App.Poller.poll()", text)
            self.accessible(page, "tasks")
            self.fine(report)

    def test_a_narrow_window_needs_no_sideways_scrolling(self):
        with self.browser.report("clinic", viewport={"width": 360, "height": 740}) as report:
            for place in VIEWS:
                page = report.open(place)
                wide = page.evaluate("document.scrollingElement.scrollWidth")
                self.assertLessEqual(wide, 360, place)
            self.fine(report)

    def test_forced_colours_and_motion(self):
        with self.browser.report("clinic", forced_colors="active", reduced_motion="no-preference") as report:
            for place in VIEWS:
                self.assertTrue(self.heading(report.open(place)))
            self.fine(report)


class WalkTest(ViewerTest):
    def focused(self, page):
        return page.evaluate("document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''")

    def test_the_graph_by_keyboard(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/retainers?q=&o=" + self.address(page=report.open("#/findings"), number=1))
            page.locator(".graph .box.target").focus()
            subject = self.focused(page)
            page.keyboard.press("ArrowLeft")
            holder = self.focused(page)
            self.assertNotEqual(holder, subject)
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Home")
            self.assertEqual(self.focused(page), subject)
            page.keyboard.press("ArrowLeft")
            before = page.url
            page.keyboard.press("Enter")
            report.settle()
            self.assertNotEqual(page.url, before, "Enter makes a holder the subject")
            page.keyboard.press("[")
            report.wait("before => location.href === before", before)
            report.settle()
            self.fine(report)

    def address(self, page, number):
        finding = summary(html("clinic"))["findings"][number - 1]
        return finding["addresses"][0]

    def test_lines_alike_are_one_element_and_what_is_near_is_drawn_again(self):
        with self.browser.report("clinic") as report:
            spared = 0
            for number, _ in enumerate(summary(html("clinic"))["findings"], 1):
                page = report.open(f"#/retainers?f={number}")
                classes = page.locator(".graph svg > g.link").evaluate_all("lines => lines.map(line => line.getAttribute('class'))")
                self.assertEqual(sorted(classes), sorted(set(classes)))
                spared += max(0, page.locator(".graph .edge").count() - len(classes))
            self.assertGreater(spared, 0)
            page = report.open("#/retainers?f=1")
            page.locator(".graph .box").nth(1).focus()
            self.assertGreater(page.locator(".graph svg g.near path").count(), 0)
            self.assertGreater(page.locator(".graph .edge.near").count(), 0)
            self.fine(report)

    def test_another_subject_uses_the_same_elements(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/retainers?f=1")
            target = page.query_selector(".graph .box.target")
            holder = page.query_selector(".graph .box.objects:not(.target)")
            sheet = page.query_selector(".graph .sheet")
            before = page.locator(".graph .box.target").get_attribute("aria-label")
            wanted = holder.get_attribute("title")
            holder.click()
            report.settle()
            for element in (target, sheet):
                self.assertTrue(element.evaluate("element => element.isConnected"), "it was made anew")
            after = page.locator(".graph .box.target").get_attribute("aria-label")
            self.assertNotEqual(after, before)
            self.assertTrue(after.startswith(wanted), after)
            self.assertEqual(self.focused(page), after)
            # What an element said of another object is gone from it.
            for number, _ in enumerate(summary(html("clinic"))["findings"], 1):
                walked = report.open(f"#/retainers?f={number}").locator(".graph").inner_html()
                with self.browser.report("clinic") as fresh:
                    self.assertEqual(walked, fresh.open(f"#/retainers?f={number}").locator(".graph").inner_html())
            self.fine(report)

    def test_the_navigation_stays_and_follows(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/types")
            before = page.query_selector("#mg-top nav a:nth-child(4)")
            page = report.open("#/retainers?f=1")
            self.assertTrue(before.evaluate("entry => entry.isConnected && entry.getAttribute('aria-current') === 'page'"))
            self.assertIn("f=1", before.get_attribute("href"))
            self.assertEqual(page.locator("#mg-top nav [aria-current]").count(), 1)
            self.fine(report)

    def test_keys_open_views_and_help(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/findings")
            page.keyboard.press("2")
            report.wait("() => location.hash.startsWith('#/types')")
            page.keyboard.press("?")
            self.assertTrue(page.locator("dialog[open]").is_visible())
            self.accessible(page, "help")
            page.keyboard.press("Escape")
            self.assertEqual(page.locator("dialog[open]").count(), 0)
            self.fine(report)

    def test_search_and_filter(self):
        # Six frames, and the storage of three arrays of them; of all that the file has, also what reports leave out of their counts.
        for text, wanted in (("type=App.Frame", 6), ("type:App.Frame", 9), ("type:App.Frame size>1k", 0), ("type:App.Frame size>=1k", 6)):
            with self.subTest(filter=text), self.browser.report("clinic") as report:
                page = report.open("#/findings")
                page.keyboard.press("/")
                page.keyboard.type(text)
                page.keyboard.press("Enter")
                report.wait("() => location.hash.startsWith('#/objects')")
                report.settle()
                self.assertIn(f"{wanted} of 39 objects", page.locator("#mg-main").inner_text())
                self.fine(report)

    def test_the_list_of_objects_counts_what_it_lists(self):
        for name in ("clinic", "one", "waiting"):
            with self.subTest(page=name), self.browser.report(name) as report:
                page = report.open("#/objects")
                shown, of = re.search(r"([\d,]+) of ([\d,]+) objects?", page.locator("#mg-main").inner_text()).groups()
                # Also what reports leave out of their counts is there to be listed.
                self.assertEqual(shown, of)
                self.assertEqual(int(of.replace(",", "")), summary(html(name))["nodes"])
                self.fine(report)

    def test_the_sandwich_opens_on_a_function_that_somebody_calls(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/allocations?as=sandwich")
            chosen = page.locator("h2", has_text="Callers of").locator("code").inner_text()
            rows = page.locator("[aria-label^='Callers of']").first.inner_text()
            self.assertIn(chosen, rows + page.locator("#mg-main").inner_text())
            outermost = page.locator("[role='row']").nth(1).inner_text()
            self.assertNotIn(chosen, outermost)
            self.fine(report)

    def test_a_deep_link_opens_its_object_and_says_what_is_not_there(self):
        address = self.address(None, 1)
        with self.browser.report("clinic") as report:
            page = report.open(f"#/object?o={address}")
            self.assertIn(address, page.locator("#mg-main").inner_text())
            self.fine(report)
        with self.browser.report("clinic") as report:
            page = report.open("#/object?o=0x123")
            self.assertIn("no object at 0x123", page.locator("#mg-main").inner_text())
            page = report.open("#/nonsense")
            self.assertIn("no view", page.locator(".status").inner_text())
            self.fine(report)

    def test_ignoring_the_edge_to_cut_frees_what_the_analyzer_says(self):
        findings = summary(html("one"))["findings"]
        tried = 0
        for number, finding in enumerate(findings, 1):
            if finding["kind"] != "leak" or not finding["graph"]["cuts"] or not finding["graph"]["cuts"][0]["edges"]:
                continue
            with self.subTest(finding=number), self.browser.report("one") as report:
                page = report.open("#/findings")
                page.locator(f"#finding-{number}").get_by_role("link", name="Try the cut").click()
                report.settle()
                text = page.locator("#mg-main .banner").first.inner_text()
                frees = finding["cut"]["frees"]
                self.assertRegex(text, rf"frees {frees['count']:,} objects?,")
                page.keyboard.press("r")
                report.settle()
                self.assertNotIn("Ignoring", page.locator("#mg-main").inner_text())
                self.fine(report)
                tried += 1
        self.assertGreater(tried, 1)

    def test_what_a_cut_frees_by_the_finding_is_always_told(self):
        tried = 0
        for name in ("clinic", "one", "waiting"):
            for number, finding in enumerate(summary(html(name))["findings"], 1):
                if not any(cut["edges"] for cut in finding["graph"].get("cuts", [])):
                    continue
                with self.subTest(report=name, finding=number), self.browser.report(name) as report:
                    page = report.open("#/findings")
                    page.locator(f"#finding-{number}").get_by_role("link", name="Try the cut").click()
                    report.settle()
                    told = page.locator("#mg-main .banner").first.inner_text()
                    frees = finding["cut"]["frees"]
                    self.assertRegex(told, rf"frees {frees['count']:,} objects?,")
                    # Another cut is not the finding's, whatever it frees.
                    page = report.open(f"#/retainers?f={number}&cut={finding['graph']['cuts'][0]['edges'][0]}")
                    self.assertNotIn("The finding's advice", page.locator("#mg-main").inner_text())
                    tried += 1
        self.assertGreater(tried, 5)
        # An advice that does more than to drop references, as to close a resource.
        text = html("one")
        value = summary(text)
        value["findings"][0]["cut"]["frees"] = {"count": 70, "bytes": 1315040}
        with self.browser.report(written("more", with_summary(text, value))) as report:
            page = report.open("#/findings")
            page.locator("#finding-1").get_by_role("link", name="Try the cut").click()
            report.settle()
            self.assertIn("is not the same as to drop these references: it frees 70 objects, 1.3 MB", page.locator("#mg-main .banner").first.inner_text())

    def test_ignoring_an_edge_shows_what_still_holds(self):
        with self.browser.report("one") as report:
            # The record of the first call is in a cache and in a list.
            page = report.open("#/objects?q=type=App.Record")
            page.locator("#mg-main a[href*='object?o=']").first.wait_for()
            addresses = page.locator("#mg-main a[href*='object?o=']").evaluate_all("links => links.map(link => link.textContent)")
            said = []
            for address in addresses:
                page = report.open(f"#/retainers?o={address.strip()}")
                page.locator(".graph .edge").last.click()
                page.get_by_role("button", name=re.compile("^Ignore ")).first.click()
                report.settle()
                said.append(page.locator("#mg-main .banner").first.inner_text())
            self.assertTrue(any("would go" in one or "frees 1" in one for one in said), said)
            self.assertTrue(any("still held" in one for one in said), said)
            self.fine(report)


    def test_what_is_folded_opens_by_click_and_key(self):
        with self.browser.report("hub") as report:
            page = report.open("#/objects?q=type=App.Hub")
            address = page.locator("#mg-main a[href*='object?o=']").first.inner_text().strip()
            for opens in (lambda: page.locator(".graph .box.more").click(), lambda: page.keyboard.press("+")):
                page = report.open(f"#/retainers?o={address}")
                page.locator(".graph .box.target").focus()
                before = page.locator(".graph .box.objects").count()
                folded = int(re.search(r"\d+", page.locator(".graph .box.more").inner_text()).group())
                self.assertEqual(before - 1 + folded, 20)
                opens()
                report.settle()
                after = page.locator(".graph .box.objects").count()
                folded = int(re.search(r"\d+", page.locator(".graph .box.more").inner_text()).group())
                self.assertGreater(after, before)
                self.assertEqual(after - 1 + folded, 20)
                self.assertIn("open=", page.url, "a link to it opens the same")
                self.assertIn("App.Hub", self.focused(page))
                page.keyboard.press("[")
                report.wait("before => document.querySelectorAll('.graph .box.objects').length === before", before)
            self.fine(report)


class KeepTest(ViewerTest):
    """What is copied and saved."""

    def copied(self, page, name, place="#mg-main"):
        page.locator(place).get_by_role("button", name=name, exact=True).click()
        return page.evaluate("globalThis.__copied")

    def saved(self, page, name):
        with page.expect_download() as download:
            page.locator("#mg-main").get_by_role("button", name=name, exact=True).click()
        return download.value.suggested_filename, pathlib.Path(download.value.path()).read_bytes()

    def test_copies(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/findings")
            page.evaluate("navigator.clipboard.writeText = async text => { globalThis.__copied = text; }")
            for number, finding in enumerate(summary(html("clinic"))["findings"], 1):
                place = f"#finding-{number}"
                static = page.locator(place).inner_text()
                for form in ("Copy", "Markdown"):
                    text = self.copied(page, form, place)
                    for edge in [finding["cut"]["edge"], *finding["cut"].get("together", [])]:
                        self.assertIn(edge, text)
                    self.assertIn(finding["fingerprint"], text)
                    made = re.search(r" at (\S+\.swift:\S*)", text)
                    if made:
                        self.assertIn(made.group(1).rstrip("`"), static)
            page = report.open("#/retainers?f=1")
            tree = self.copied(page, "Text")
            self.assertIn("└ ", tree)
            self.assertIn(f"```\n{tree.splitlines()[1]}", self.copied(page, "Markdown"))
            self.assertEqual(self.copied(page, "Link"), page.url)
            self.fine(report)

    def test_a_cut_of_several_edges_is_copied_whole(self):
        text = html("one")
        value = summary(text)
        # What the compiler made has no line, and the next frame tells more.
        value["findings"][0]["allocation"].insert(0, {"function": "App.Page.init()", "file": "/app/Made.swift", "module": "App"})
        value["findings"][0]["cut"]["together"] = ["App.Timer.onTick -> App.Page", "App.Client.delegate -> App.Page"]
        with self.browser.report(written("together", with_summary(text, value))) as report:
            page = report.open("#/findings")
            page.evaluate("navigator.clipboard.writeText = async text => { globalThis.__copied = text; }")
            for form in ("Copy", "Markdown"):
                self.assertNotIn("Made.swift", self.copied(page, form, "#finding-1"))
                self.assertRegex(self.copied(page, form, "#finding-1"), r"^\W*3 objects of App.CallViewController, leaked in a cycle, ")
                self.assertIn(" and App.Timer.onTick -> App.Page and App.Client.delegate -> App.Page: ", self.copied(page, form, "#finding-1"))

    def test_files(self):
        with self.browser.report("clinic", accept_downloads=True) as report:
            page = report.open("#/retainers?f=1")
            name, picture = self.saved(page, "SVG")
            self.assertEqual(name, "retained-by.svg")
            self.assertIn(b"CallViewController", picture)
            name, picture = self.saved(page, "PNG")
            self.assertTrue(picture.startswith(b"\x89PNG") and len(picture) > 5_000, name)
            for place, wanted, first in (("types", "types.csv", b"Type,Live,"), ("compare", "changes.csv", b"Type,Staircase,")):
                name, table = self.saved(report.open(f"#/{place}"), "CSV")
                self.assertEqual(name, wanted)
                self.assertTrue(table.startswith(first), table[:40])
                self.assertIn(b"App.CallViewController", table)
            for place in ("map", "allocations"):
                name, picture = self.saved(report.open(f"#/{place}"), "PNG")
                self.assertTrue(picture.startswith(b"\x89PNG"), name)
            self.fine(report)


class LookTest(ViewerTest):
    def test_what_is_said_beside_a_name_is_seen_however_long_the_name_is(self):
        # A name of the report itself, made long: the column has room for some letters only.
        for width in (360, 1280):
            with self.browser.report("clinic", viewport={"width": width, "height": 740}) as report:
                page = report.open("#/compare")
                names = page.locator(".grid [role=gridcell]:has(.badge) .type")
                names.evaluate_all("names => names.forEach(name => (name.textContent = '_ContiguousArrayStorage<'.repeat(12)))")
                marks = page.locator(".grid [role=gridcell] .badge")
                self.assertGreater(marks.count(), 0)
                for mark in marks.all():
                    inside = mark.evaluate("mark => { const cell = mark.closest('[role=gridcell]').getBoundingClientRect(); const own = mark.getBoundingClientRect(); return own.width > 10 && own.right <= cell.right && own.left >= cell.left; }")
                    self.assertTrue(inside, f"{width}: {mark.inner_text()}")
                self.fine(report)

    def test_the_generation_of_an_object_is_told_and_found(self):
        with self.browser.report("clinic") as report:
            generations = summary(html("clinic"))["generations"]
            self.assertGreater(len(generations), 1)
            found = 0
            for generation in generations:
                page = report.open(f'#/objects?q=gen:"{generation["name"]}"')
                said = page.locator(".echo").inner_text()
                self.assertRegex(said, r"^[1-9]", generation["name"])
                found += int(said.split()[0].replace(",", ""))
                self.assertIn(generation["name"], page.locator(".grid .row").first.inner_text())
            self.assertEqual(found, summary(html("clinic"))["nodes"])
            address = summary(html("clinic"))["findings"][0]["addresses"][0]
            page = report.open(f"#/object?o={address}")
            self.assertIn("Generation", page.locator(".facts").inner_text())
            page = report.open(f"#/retainers?o={address}")
            self.assertIn("born in", page.locator(".panel").inner_text())
            self.fine(report)

    def test_pictures(self):
        places = {"findings": "#/findings", "retainers": "#/retainers?f=1", "map": "#/map", "types": "#/types"}
        for scheme in ("light", "dark"):
            with self.browser.report("clinic", color_scheme=scheme) as report:
                for name, place in places.items():
                    with self.subTest(picture=f"{name}-{scheme}"):
                        page = report.open(place)
                        self.assertIsNone(pictures.difference(page.screenshot(animations="disabled"), f"{name}-{scheme}"))
                self.fine(report)

    def test_the_switch_of_colours(self):
        with self.browser.report("clinic") as report:
            page = report.open("#/findings")
            light = page.evaluate("getComputedStyle(document.body).backgroundColor")
            page.keyboard.press("t")
            page.keyboard.press("t")
            self.assertNotEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), light)
            page.reload()
            report.wait(READY)
            self.assertNotEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), light, "it is remembered")
            self.fine(report)


class BadInputTest(ViewerTest):
    def test_names_are_text(self):
        with self.browser.report("hostile") as report:
            for place in ("#/findings", "#/types", "#/objects", "#/retainers?f=1", "#/references?f=1", "#/map", "#/map?as=icicle"):
                page = report.open(place)
                self.assertEqual(page.locator("main img, main script, b.mark").count(), 0)
                self.assertLessEqual(page.evaluate("document.scrollingElement.scrollWidth"), 1280, place)
            for number, _ in enumerate(summary(html("hostile"))["findings"], 1):
                report.open(f"#/retainers?f={number}")
            page = report.open("#/types")
            self.assertIn("</script>", page.locator("#mg-main").inner_text())
            self.fine(report)

    def test_a_cut_file_says_so_and_still_reads(self):
        whole = html("clinic")
        data = whole.index('class="data">')
        for name, text in {
            "in-data": whole[: data + (len(whole) - data) // 2],
            "before-data": whole[:data] + '"></script></body></html>',
            "damaged": whole[: data + 200] + "AAAA" + whole[data + 204 :],
        }.items():
            with self.subTest(cut=name), self.browser.report(written(name, text)) as report:
                page = report.open("#/findings")
                words = page.locator("body").inner_text()
                self.assertRegex(words, "ncomplete file|could not be read")
                self.assertTrue(page.locator("#finding-1").is_visible())
                self.fine(report)

    def test_another_version_is_refused_by_name(self):
        text = html("clinic")
        value = summary(text)
        value["format"] = "memory-graph/view/2"
        with self.browser.report(written("newer", with_summary(text, value))) as report:
            page = report.open("#/findings", wait=False)
            page.locator("[role=alert]").wait_for()
            self.assertIn("memory-graph/view/2", page.locator("[role=alert]").inner_text())
            self.assertTrue(page.locator("#finding-1").is_visible())
            self.fine(report)

    def test_figures_that_differ_are_shown(self):
        text = html("clinic")
        for member in ("retainedBytesSum", "retainedCountSum", "cyclicComponents", "largestComponent"):
            value = summary(text)
            value["check"][member] += 1
            with self.subTest(figure=member), self.browser.report(written("mismatch", with_summary(text, value))) as report:
                page = report.open("#/findings")
                self.assertIn("disagree", page.locator(".banner.bad").inner_text())
        with self.browser.report("clinic") as report:
            self.assertEqual(report.open("#/findings").locator(".banner.bad").count(), 0)

    def test_without_scripts_it_is_a_report(self):
        with self.browser.report("clinic", java_script_enabled=False) as report:
            page = report.open("", wait=False)
            words = page.locator("main#static").inner_text()
            for part in ("cut", "capture [weak self]", "What grew", "App.CallViewController.viewDidLoad()", "Call.swift"):
                self.assertIn(part, words)
            self.assertEqual(report.problems, [])


class SizeTest(unittest.TestCase):
    def test_a_small_leak_is_a_small_file(self):
        for name in ("one", "clinic", "waiting", "part"):
            self.assertLess((PAGES / f"{name}.html").stat().st_size, 200_000, name)

    def test_nothing_is_asked_of_the_network(self):
        text = pathlib.Path(PAGES / "clinic.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"""(?:src|href)=["']?(?:https?:)?//[^"'> ]+""", text), [])


if __name__ == "__main__":
    unittest.main()
