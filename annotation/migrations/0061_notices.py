"""Notices, and when people get them by mail."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0060_reviews'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='mail_notices',
            field=models.CharField(db_default='never', default='never', editable=False, max_length=10),
        ),
        migrations.AddField(
            model_name='person',
            name='unread_notices',
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('batch_finished', 'Finished'), ('question_asked', 'Asked'), ('question_answered', 'Answered'), ('sent_back', 'Sent Back'), ('adjudication', 'Adjudication'), ('job_failed', 'Failed'), ('release_ready', 'Release')], max_length=20)),
                ('key', models.CharField(max_length=40)),
                ('made_at', models.DateTimeField()),
                ('read_at', models.DateTimeField(null=True)),
                ('mailed_at', models.DateTimeField(null=True)),
                ('batch', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.batch')),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.project')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'key'], name='notices_of'), models.Index(condition=models.Q(('mailed_at', None), ('read_at', None)), fields=['person'], name='unmailed')],
                'constraints': [models.UniqueConstraint(fields=('person', 'kind', 'key'), name='one_notice_per_key')],
            },
        ),
    ]
