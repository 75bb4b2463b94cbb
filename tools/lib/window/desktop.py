"""The settings of a desktop, which tell programs whether dark is preferred."""

import threading

from gi.repository import Gio, GLib

from .patience import PATIENCE


class Desktop:
    """The settings of a desktop, as a portal has them: whether dark is preferred."""

    INTERFACE = """<node><interface name="org.freedesktop.portal.Settings">
        <method name="Read"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/></method>
        <signal name="SettingChanged"><arg type="s"/><arg type="s"/><arg type="v"/></signal>
        </interface></node>"""

    def __init__(self):
        self.scheme = 0
        self.context = GLib.MainContext()
        started = threading.Event()
        threading.Thread(target=self.serve, args=[started], daemon=True).start()
        started.wait(PATIENCE)

    def serve(self, started):
        self.context.push_thread_default()
        self.session = Gio.bus_get_sync(Gio.BusType.SESSION)
        interface = Gio.DBusNodeInfo.new_for_xml(self.INTERFACE).interfaces[0]
        self.session.register_object("/org/freedesktop/portal/desktop", interface, self.answer, None, None)
        Gio.bus_own_name_on_connection(
            self.session, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.NONE, None, None)
        started.set()
        GLib.MainLoop(self.context).run()

    def answer(self, session, sender, path, interface, method, parameters, invocation):
        if parameters.unpack() != ("org.freedesktop.appearance", "color-scheme"):
            invocation.return_dbus_error("org.freedesktop.portal.Error.NotFound", "there is no such setting")
            return
        value = GLib.Variant("v", GLib.Variant("u", self.scheme))
        invocation.return_value(GLib.Variant.new_tuple(GLib.Variant("v", value)))

    def prefer(self, scheme):
        self.scheme = scheme
        change = GLib.Variant("(ssv)", ("org.freedesktop.appearance", "color-scheme", GLib.Variant("u", scheme)))
        self.session.emit_signal(
            None, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings", "SettingChanged", change)
