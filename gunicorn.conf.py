"""What gunicorn reads by itself when it is started here: an access log, where one is asked for, without queries.

The address of a crowd link has the ids of a platform in its query. The address itself, `%(U)s`, is logged, and neither the
query nor where somebody came from.
"""

access_log_format = '%(h)s %(t)s "%(m)s %(U)s %(H)s" %(s)s %(b)s "%(a)s"'
